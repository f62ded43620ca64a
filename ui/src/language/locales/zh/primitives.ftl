### Made by a machine; no native speaker has read it yet.

-here = { PLATFORM() ->
    [mac] 这台 Mac
   *[other] 这台电脑
}
