# SHA256SUMS is written last, and VERIFY.md is its last line.
sums=sha256sum
command -v sha256sum >/dev/null || sums='shasum -a 256'  # macOS
case $(tail -n 1 SHA256SUMS 2>/dev/null) in
  *'  VERIFY.md') ;;
  *) echo "$0: SHA256SUMS is missing or cut off: this bundle is incomplete, export it again" >&2; exit 1 ;;
esac
if ! checked=$($sums -c SHA256SUMS 2>&1); then
  echo "$checked" | grep -v ': OK$' >&2
  echo "$0: files are missing or not as slicewise wrote them. Export the bundle again or, if you changed" >&2
  echo "them, write the list anew:" >&2
  echo "  $sums \$(cut -c67- SHA256SUMS) >sums.new && mv sums.new SHA256SUMS" >&2
  exit 1
fi
