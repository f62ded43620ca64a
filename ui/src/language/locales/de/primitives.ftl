### Made by a machine; no native speaker has read it yet.

-here = { $case ->
   *[nominative] { PLATFORM() ->
        [mac] dieser Mac
       *[other] dieser Computer
    }
    [genitive] { PLATFORM() ->
        [mac] dieses Mac
       *[other] dieses Computers
    }
    [dative] { PLATFORM() ->
        [mac] diesem Mac
       *[other] diesem Computer
    }
    [accusative] { PLATFORM() ->
        [mac] diesen Mac
       *[other] diesen Computer
    }
}
