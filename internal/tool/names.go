package tool

import "strings"

// otherNames are names under which commands of the table are known besides.
var otherNames = [...]struct{ of, names string }{
	{"md5sum", " sha224sum sha256sum sha384sum sha512sum b2sum b3sum xxh64sum sum "},
	{"grep", " egrep fgrep rgrep bzgrep xzgrep zstdgrep zegrep zfgrep pcregrep pcre2grep "},
	{"bat", " batcat "},
	{"fd", " fdfind "},
	{"rg", " rga "},
	{"diff", " colordiff icdiff wdiff xzdiff bzdiff zcmp "},
	{"ast-grep", " sg "},
	{"bzip2", " bunzip2 pbzip2 "},
	{"zcat", " xzcat lzcat lz4cat gzcat "},
	{"gzip", " uncompress compress "},
	{"xz", " unlzma pixz "},
	{"zstd", " pzstd zstdmt "},
	{"7z", " 7za 7zr 7zz "},
	{"tar", " bsdtar "},
	{"cpio", " bsdcpio "},
	{"hexdump", " hd "},
	{"gcc", " cc c++ g++ clang clang++ c99 c89 cpp tcc emcc em++ nvcc icc x86_64-linux-gnu-gcc aarch64-linux-gnu-gcc arm-none-eabi-gcc gfortran "},
	{"ld", " ld.lld lld gold ld.gold mold "},
	{"ar", " llvm-ar gcc-ar "},
	{"editor", " nano pico micro joe hx helix ne mg gedit kate mousepad xed hexedit bvi hexcurse "},
	{"code", " code-insiders codium windsurf zed idea pycharm webstorm goland "},
	{"pip", " pip3 "},
	{"pytest", " py.test "},
	{"conda", " mamba micromamba "},
	{"yarn", " yarnpkg "},
	{"mysql", " mariadb "},
	{"mysqldump", " mariadb-dump "},
	{"ninja", " ninja-build samu "},
	{"cmake", " cmake3 "},
	{"mkfs", " mkfs.ext4 mkfs.xfs mkfs.btrfs mke2fs mkswap wipefs "},
	{"reboot", " halt poweroff init "},
	{"iptables", " ip6tables nft ufw insmod rmmod swapon swapoff chpasswd hostnamectl groupdel deluser delgroup "},
	{"test", " [ "},
	{"rm", " trash-put rip "},
}

// another returns the name under which a command is in the table, if that is
// not its own.
func another(name string) string {
	switch name {
	case "gcp", "gmv", "grm", "gls", "gcat", "gmkdir", "gln", "gtouch", "gtar", "ginstall", "gsort", "gdd", "gsplit", "ggrep", "gtee", "gdate", "ghead", "gtail", "gwc", "gstat", "greadlink", "grealpath", "gmktemp", "gchmod", "gchown", "gtruncate", "gshuf", "gbase64":
		return name[1:] // those of GNU on a Mac
	case "npm run-script", "npm test", "npm t", "npm start", "npm stop", "npm restart":
		return "npm run"
	}
	if strings.Contains(name, " ") {
		return ""
	}
	for _, o := range otherNames {
		if strings.Contains(o.names, " "+name+" ") {
			return o.of
		}
	}
	return ""
}
