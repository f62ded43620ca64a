### Made by a machine; no native speaker has read it yet.

-here = { PLATFORM() ->
    [mac] この Mac
   *[other] このコンピュータ
}
