# Homebrew formula: `brew install --formula ./slicewise.rb`. tools/packaging/release fills in VERSION and SHA256 from the
# archive of a release.
class Slicewise < Formula
  desc "Simulate and plan how GPUs of EC2 are shared"
  homepage "https://slicewise.dev"
  url "https://slicewise.dev/releases/vVERSION/slicewise-VERSION-linux-amd64.tar.gz"
  version "VERSION"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "bin/slicewise"
    bin.install_symlink bin/"slicewise" => "kubectl-slicewise"
    bin.install "bin/kubectl_complete-slicewise"
    bash_completion.install "share/bash-completion/completions/slicewise"
    zsh_completion.install "share/zsh/vendor-completions/_slicewise"
    fish_completion.install "share/fish/vendor_completions.d/slicewise.fish"
    man1.install "share/man/man1/slicewise.1"
    pkgshare.install Dir["share/slicewise/*"]
  end

  test do
    assert_match "slicewise #{version}", shell_output("#{bin}/slicewise version")
    assert_match "p3.8xlarge", shell_output("#{bin}/slicewise get instances -o name")
  end
end
