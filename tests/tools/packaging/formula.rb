# What Homebrew does with a formula, as far as ours goes: installs from an unpacked archive, then runs its test.
#   ruby formula.rb FORMULA UNPACKED PREFIX
require "fileutils"
require "open3"
require "pathname"

FORMULA, UNPACKED, PREFIX = ARGV.map { |path| Pathname(path).expand_path }

class Pathname
  def install(*files)
    raise "nothing to install into #{self}" if files.flatten.empty?
    mkpath
    FileUtils.cp_r(files.flatten, self)
  end

  def install_symlink(links)
    links.each { |from, to| (self/to).make_symlink(from) }
  end
end

class Formula
  class << self
    %i[desc homepage url sha256 license depends_on].each { |word| define_method(word) { |*| } }

    def version(text = @version)
      @version = text
    end

    def test(&block)
      @test = block || @test
    end
  end

  { bin: "bin", bash_completion: "share/bash-completion/completions", zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d", man1: "share/man/man1", pkgshare: "share/slicewise" }
    .each { |word, folder| define_method(word) { PREFIX/folder } }

  def version
    self.class.version
  end

  def shell_output(command)
    text, status = Open3.capture2(command)
    status.success? ? text : raise("#{command}: #{status}")
  end

  def assert_match(part, text)
    raise "no #{part} in #{text}" unless text.include?(part)
  end
end

load FORMULA
Dir.chdir(UNPACKED) { Slicewise.new.install }
Slicewise.new.instance_eval(&Slicewise.test)
