# For Nix: `nix-build slicewise.nix`. tools/packaging/release fills in VERSION and SHA256 from the archive of a release.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "slicewise";
  version = "VERSION";
  src = pkgs.fetchurl {
    url = "https://slicewise.dev/releases/vVERSION/slicewise-VERSION-linux-amd64.tar.gz";
    sha256 = "SHA256";
  };
  nativeBuildInputs = [ pkgs.autoPatchelfHook ];
  # libcurl is loaded when a server is asked.
  runtimeDependencies = [ pkgs.curl ];
  dontBuild = true;
  installPhase = ''
    mkdir -p $out
    cp -r bin share $out/
    mv $out/share/zsh/vendor-completions $out/share/zsh/site-functions
  '';
  meta = {
    description = "Simulate and plan how GPUs of EC2 are shared";
    homepage = "https://slicewise.dev";
    license = pkgs.lib.licenses.asl20;
    mainProgram = "slicewise";
    platforms = [ "x86_64-linux" ];
  };
}
