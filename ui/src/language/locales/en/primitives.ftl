### Words that several parts of the app share.

-here = { PLATFORM() ->
    [mac] this Mac
   *[other] this computer
}
