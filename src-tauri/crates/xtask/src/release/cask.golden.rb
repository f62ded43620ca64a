cask "foretoken" do
  version "1.2.3"
  sha256 "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

  url "https://github.com/somebody/foretoken/releases/download/v#{version}/Foretoken_#{version}_aarch64.dmg"
  name "Foretoken"
  desc "Chat with Qwen models that answer faster by their own guesses"
  homepage "https://github.com/somebody/foretoken"

  depends_on arch: :arm64
  depends_on macos: ">= :sonoma"

  app "Foretoken.app"

  uninstall quit: "dev.foretoken.Foretoken"

  zap trash: [
    "~/Library/Application Support/dev.foretoken.Foretoken",
    "~/Library/Caches/dev.foretoken.Foretoken",
    "~/Library/HTTPStorages/dev.foretoken.Foretoken",
    "~/Library/HTTPStorages/dev.foretoken.Foretoken.binarycookies",
    "~/Library/Logs/dev.foretoken.Foretoken",
    "~/Library/Preferences/dev.foretoken.Foretoken.plist",
    "~/Library/Saved Application State/dev.foretoken.Foretoken.savedState",
    "~/Library/WebKit/dev.foretoken.Foretoken",
  ]
end
