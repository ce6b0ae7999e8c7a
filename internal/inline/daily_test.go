package inline

import (
	"testing"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// daily are programs as agents write them every day: data that mentions paths,
// edits of files, reports. None of them leaves.
var daily = []snippet{
	{commands.Python, "import json; json.dump({'root': '/w/repo'}, open('build/r.json','w'))"},
	{commands.Python, "import yaml; yaml.dump({'p': '/w/repo'}, open('build/a.yml','w'))"},
	{commands.Python, "import csv; csv.writer(open('build/a.csv','w')).writerow(['/w/repo','x'])"},
	{commands.Python, "import csv\nwith open('build/a.csv','w') as f:\n    w = csv.DictWriter(f, ['p'])\n    w.writeheader()\n    w.writerow({'p': '/w/repo'})"},
	{commands.Python, "import sqlite3\nc = sqlite3.connect('build/t.db')\nc.execute(\"insert into t values (?, ?)\", (1, '/w/repo/x'))\nc.executemany('insert into t values (?)', [('/w/repo',)])"},
	{commands.Python, "d={}; d['p']='/w/repo'; d.update(q='../../x'); print(d)"},
	{commands.Python, "import requests; requests.post('http://localhost:3000', json={'cwd':'/w/repo'}); requests.get('http://x', params={'p':'../../x'})"},
	{commands.Python, "import os.path as p; print(p.normpath('/w/repo/../x'), p.basename('/w/repo'), p.isabs('/w/repo'))"},
	{commands.Python, "import posixpath; print(posixpath.relpath('/w/repo/a','/w'), posixpath.commonpath(['/w/repo','/w']))"},
	{commands.Python, "import fnmatch; print(fnmatch.fnmatch('/w/repo/x','/w/*'))"},
	{commands.Python, "import hashlib; h=hashlib.md5(b'/w/repo').hexdigest(); open('build/'+h,'w').write('x')"},
	{commands.Python, "import difflib; print(list(difflib.unified_diff(['/w/repo'],['x'])))"},
	{commands.Python, "from collections import Counter, defaultdict\nprint(Counter(['/w/repo']))\nd=defaultdict(list); d['/w/repo'].append('../..'); print(d)"},
	{commands.Python, "print(sorted(['/w/repo','../..'], key=len), max('/w/repo','x'), len('/w/repo'), str('/w/repo'), set(['/w/repo']))"},
	{commands.Python, "import pprint, base64, textwrap; pprint.pprint({'a':'/home/agent/.ssh'}); print(base64.b64encode(b'/w/repo'), textwrap.indent('/w/repo','  '))"},
	{commands.Python, "import string; print(string.Template('cd $p').substitute(p='/w/repo'))"},
	{commands.Python, "import sys\np = sys.argv[1]\ns = open(p).read()\ni = s.index('func main')\nopen(p, 'w').write(s[:i] + '// entry\\n' + s[i:])"},
	{commands.Python, "exec(open('scripts/gen.py').read())"},
	{commands.Python, "exec(compile(open('scripts/gen.py').read(), 'scripts/gen.py', 'exec'))"},
	{commands.Python, "import time\nopen(f'build/{int(time.time())}.log','w').write('x')"},
	{commands.Python, "from datetime import datetime\nopen('build/' + datetime.now().strftime('%Y%m%d') + '.log','w')"},
	{commands.Python, "import uuid\nopen(f'build/{uuid.uuid4().hex}.json','w')\nopen(f'build/{uuid.uuid4()}.json','w')"},
	{commands.Python, "for i in range(3):\n    open(f'build/part{i}.txt','w').write('x')"},
	{commands.Python, "for i in range(3):\n    open('build/part%03d.txt' % (i + 1),'w').write('x')"},
	{commands.Python, "n = 0\nfor line in open('list.txt'):\n    n += 1\n    open('build/%d.txt' % n, 'w').write(line)"},
	{commands.Python, "import re, pathlib\np = pathlib.Path('src/app.py')\nsrc = p.read_text()\nsrc, n = re.subn(r'(?m)^ROOT = .*$', \"ROOT = '/w/repo'\", src)\nassert n == 1\np.write_text(src)"},
	{commands.Python, "import pathlib, re\nfor p in sorted(pathlib.Path('docs').glob('**/*.md')):\n    t = p.read_text()\n    t2 = re.sub(r'\\]\\(\\.\\./\\.\\./', '](../', t)\n    if t2 != t:\n        p.write_text(t2)\n        print('fixed', p)"},
	{commands.Python, "import json, pathlib\np = pathlib.Path('tsconfig.json')\nd = json.loads(p.read_text())\nd.setdefault('compilerOptions', {})['paths'] = {'@/*': ['../../shared/*']}\nd['extends'] = '../../tsconfig.base.json'\np.write_text(json.dumps(d, indent=2) + '\\n')"},
	{commands.Python, "import tomllib\nwith open('pyproject.toml','rb') as f:\n    d = tomllib.load(f)\nprint(d['project']['name'])"},
	{commands.Python, "import tomlkit\nd = tomlkit.parse(open('Cargo.toml').read())\nd['dependencies']['x'] = {'path': '../../x'}\nopen('Cargo.toml','w').write(tomlkit.dumps(d))"},
	{commands.Python, "import ast\nt = ast.parse(open('src/a.py').read())\nfor n in ast.walk(t):\n    if isinstance(n, ast.Constant) and n.value == '/w/repo':\n        print(n.lineno)"},
	{commands.Python, "import subprocess, json\nout = subprocess.check_output(['git','ls-files','*.py'], text=True).splitlines()\nfor f in out:\n    s = open(f).read()\n    open(f,'w').write(s.replace('/w/repo','.'))"},
	{commands.Python, "import glob, os\nnewest = max(glob.glob('build/*.log'), key=os.path.getmtime)\nos.remove(newest)"},
	{commands.Python, "import os\ndef walk(d):\n    for e in os.listdir(d):\n        p = os.path.join(d, e)\n        if os.path.isdir(p):\n            walk(p)\n        else:\n            open(p, 'a').write('\\n')\nwalk('src')"},
	{commands.Python, "import configparser\nc = configparser.ConfigParser()\nc.read('setup.cfg')\nc.set('tool', 'root', '/w/repo')\nc.write(open('setup.cfg','w'))"},
	{commands.Python, "lines = open('a.txt').read().split('\\n')\nlines = list(map(str.strip, lines))\nopen('a.txt','w').write('\\n'.join(lines))"},
	{commands.Python, "class Cfg(dict):\n    pass\nc = Cfg(root='/x')\nc.update({'a': '../../b'})\nprint(c.get('a', '/w/repo'))"},
	{commands.Python, "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertIn('/w/repo', ['/w/repo'])"},

	{commands.Python, "from dataclasses import dataclass\n@dataclass\nclass Case:\n    path: str\n    want: bool\ncases = [Case('/w/repo/x', False), Case(path='../..', want=True)]\nfor c in cases:\n    print(c.path, c.want)"},
	{commands.Python, "import os\nfor root, _, files in os.walk('src'):\n    for fn in files:\n        if not fn.endswith('.py'): continue\n        fp = os.path.join(root, fn)\n        with open(fp, 'w', encoding='utf-8') as fh:\n            fh.write('x')"},
	{commands.JavaScript, "const m=new Map([['/w/repo',1]]); m.set('../..',2); console.log(m.get('/w/repo'))"},
	{commands.JavaScript, "const s=new Set(['/w/repo']); s.add('../..'); console.log(s.has('/w/repo'), [...s].join(','))"},
	{commands.JavaScript, "const fs = require('fs'), path = require('path');\nconst walk = d => fs.readdirSync(d, { withFileTypes: true }).flatMap(e =>\n  e.isDirectory() ? walk(path.join(d, e.name)) : [path.join(d, e.name)]);\nfor (const f of walk('src').filter(f => f.endsWith('.ts'))) {\n  const s = fs.readFileSync(f, 'utf8');\n  fs.writeFileSync(f, s.replace(/from \"\\.\\.\\/\\.\\.\\//g, 'from \"@/'));\n}"},
	{commands.JavaScript, "const fs=require('fs');function walk(d,out=[]){for(const n of fs.readdirSync(d)){const p=d+'/'+n;if(fs.statSync(p).isDirectory())walk(p,out);else out.push(p)}return out}\nfor(const f of walk('src'))fs.writeFileSync(f,fs.readFileSync(f,'utf8').trimEnd()+'\\n')"},
	{commands.JavaScript, "const fs=require('fs');const p='tsconfig.json';const j=JSON.parse(fs.readFileSync(p));j.extends='../../base.json';j.include=[...(j.include||[]),'../shared'];fs.writeFileSync(p,JSON.stringify(j,null,2))"},
	{commands.JavaScript, "const fs=require('fs');fs.writeFileSync(`build/${Date.now()}.json`,JSON.stringify({root:'/w/repo'}))"},
	{commands.JavaScript, "const fs=require('fs');for(let i=0;i<3;i++){fs.writeFileSync('build/'+i+'.txt','x')}"},
	{commands.JavaScript, "const cfg={root:'/w/repo',paths:['../..']};Object.assign(cfg,{a:'/x'});console.log(JSON.stringify(cfg))"},
	{commands.JavaScript, "require('fs').readdirSync('src').map(f=>'src/'+f).forEach(f=>require('fs').appendFileSync(f,'\\n'))"},
	{commands.JavaScript, "fetch('http://localhost:3000/api',{method:'POST',body:JSON.stringify({cwd:'/w/repo'})}).then(r=>r.json()).then(console.log)"},
	{commands.JavaScript, "const a='/w/repo/src/x'; console.log(a.split('/').pop(), a.slice(3), a.replace('/w/repo/',''))"},
	{commands.JavaScript, "const u=new URL('/api/x','http://localhost'); u.searchParams.set('p','/w/repo'); console.log(u.href)"},

	{commands.Perl, "my $s = \"/w/repo\"; $s =~ s{/w}{}; print \"$s\\n\"; push my @a, \"/w/repo\"; print join(\",\", @a, \"../..\")"},
	{commands.Perl, "printf \"%s\\n\", \"/w/repo\"; my %h = (p => \"/w/repo\"); print $h{p}"},
	{commands.Perl, "s{/w/repo/}{./}g; s/a/..\\/../"},
	{commands.Perl, "my @l; push @l, $_ for ('/w/repo','x'); push(@l, '../..'); print scalar(@l), \"\\n\"; my $n = length('/w/repo');"},
	{commands.Perl, "BEGIN{undef $/} s/foo\\(\\s*\\)/bar(\"\\/w\\/repo\")/g"},
	{commands.Perl, "my $n=0; while(<>){ $n++; open my $f, '>', \"build/$n.txt\" or die; print $f $_; close $f }"},

	{commands.Ruby, "h = {root: '/w/repo'}; h.merge!(b: '../..'); puts h.fetch(:root); p h.key?('/w/repo')"},
	{commands.Ruby, "require 'json'; d = JSON.parse(File.read('package.json')); d['root'] = '/w/repo'; File.write('package.json', JSON.pretty_generate(d))"},
	{commands.Ruby, "Dir.glob('lib/**/*.rb').each { |f| s = File.read(f); File.write(f, s.gsub('/w/repo', '.')) }"},

	{commands.Awk, "{print $1 > \"build/\" NR \".txt\"}"},
	{commands.Awk, "/^---/{n++} {print > \"build/part\" n \".txt\"}"},
	{commands.Awk, "BEGIN{n=0} {f = sprintf(\"build/%03d.txt\", n++ % 4); print >> f}"},
	{commands.Awk, "BEGIN { s = \"/w/repo\"; sub(\"/w\", \"\", s); print s; print length(\"/w/repo\"), index(\"/w/repo\", \"r\"), split(\"/w/repo\", a, \"/\") }"},
	{commands.Awk, "BEGIN{root=\"/w/repo\"}\nindex($0, root) == 1 { print substr($0, length(root)+2) }"},
	{commands.Awk, "{sum[$1]+=$2} END{for(k in sum) printf \"%s %d\\n\", k, sum[k] | \"sort -k2\"}"},
}

// ways are ways out beside the daily programs: each is near one of them.
var ways = []snippet{
	{commands.Python, "import shutil; shutil.foo('/w/repo')"},
	{commands.Python, "myopen('/w/repo/x')"},
	{commands.Python, "open(max('/w/repo/x','a'))"},
	{commands.Python, "open(max(['/w/repo/x','a']),'w')"},
	{commands.Python, "d={}; d.update(q='../../x'); open(d['q'],'w')"},
	{commands.Python, "d={'a':1}; d.update({'q':'../../x'}); open(d.get('q'))"},
	{commands.Python, "import json; open(json.loads('{\"p\":\"../../x\"}')['p'],'w')"},
	{commands.Python, "import string; open(string.Template('$p/x').substitute(p='/w/repo'))"},
	{commands.Python, "import os.path as p; open(p.join('..','..','x'))"},
	{commands.Python, "import posixpath; open(posixpath.join('..','..','x'))"},
	{commands.Python, "import sqlite3\nc=sqlite3.connect(':memory:')\nc.execute(\"attach '/w/repo/x.db' as b\")"},
	{commands.Python, "import pytest; pytest.main(['/w/repo/tests'])"},
	{commands.Python, "exec(open('../../x.py').read())"},
	{commands.Python, "def f(p, n):\n    if n: return f('../'+p, n-1)\n    open(p)\nf('x', 2)"},
	{commands.Python, "def f(d):\n    open(d + '/x', 'w')\n    f('/w/repo')\nf('src')"},
	{commands.Python, "import os\nlist(map(os.remove, ['../../x']))"},
	{commands.Python, "import threading, os\nthreading.Thread(target=os.system, args=('touch ../../x',)).start()"},
	{commands.Python, "import urllib.request; urllib.request.urlopen('file:///w/repo/.env').read()"},
	{commands.Python, "import toml; toml.load('/w/repo/x.toml')"},
	{commands.Python, "import configparser; configparser.ConfigParser().read('/w/repo/setup.cfg')"},
	{commands.Python, "import joblib; joblib.dump([1], '/w/repo/x')"},
	{commands.Python, "p = '/w/repo/x'.replace('x', input()); open(p)"},
	{commands.Python, "from collections import deque\nq = deque(['/w/repo'])\nwhile q:\n    open(q.popleft())"},
	{commands.Python, "paths = ['a']\npaths.insert(0, '/w/repo/x')\nfor p in paths: open(p)"},
	{commands.Python, "n = '../../x'\nopen(f'{n}', 'w')"},
	{commands.Python, "from dataclasses import dataclass\n@dataclass\nclass C:\n    p: str\nc = C('/w/repo/x')\nopen(c.p)"},
	{commands.Python, "class W:\n    def __init__(self, p):\n        self.p = p\n    def go(self):\n        return open(self.p).read()\nW('/w/repo/x').go()"},
	{commands.Python, "import functools, os\nfunctools.partial(os.remove, '../../x')()"},
	{commands.Python, "import json\ncfg = json.loads('{\"out\": \"/w/repo/x\"}')\nopen(cfg['out'])"},
	{commands.JavaScript, "const c = JSON.parse('{\"out\": \"/w/repo/x\"}'); require('fs').readFileSync(c.out)"},
	{commands.JavaScript, "for (const [k,v] of new Map([['a','../../x']])) require('fs').writeFileSync(v,'')"},
	{commands.JavaScript, "require('fs').readdirSync('src').map(f=>'../../'+f).forEach(f=>require('fs').unlinkSync(f))"},
	{commands.JavaScript, "const m=new Map([['p','/w/repo/x']]); require('fs').readFileSync(m.get('p'))"},
	{commands.JavaScript, "const m=new Map(); m.set('p','/w/repo/x'); require('fs').readFileSync(m.get('p'))"},
	{commands.JavaScript, "const {simpleGit}=require('simple-git'); simpleGit({baseDir:'/w/repo'}).pull()"},
	{commands.JavaScript, "const fs=require('fs'); const w=d=>fs.readdirSync(d).flatMap(e=>[d+'/'+e]); w('../..').forEach(f=>fs.rmSync(f))"},
	{commands.JavaScript, "['../../x'].flatMap(f=>[f]).forEach(require('fs').unlinkSync)"},
	{commands.JavaScript, "eval(require('fs').readFileSync('/w/repo/x.js','utf8'))"},
	{commands.Perl, "push my @a, '/w/repo/x'; unlink @a"},
	{commands.Perl, "my @l; push @l, '../../x'; open my $f, '>', $l[0]"},
	{commands.Perl, "my %h = (p => '../../x'); open my $f, '>', $h{p}"},
	{commands.Ruby, "File.send(:write, '../../x', '')"},
	{commands.Ruby, "h = {}; h.merge!(p: '../../x'); File.write(h[:p], '')"},
	{commands.Awk, "{print > n; n++; n = \"../../x\"}"},
	{commands.Awk, "{print > \"../../\" NR}"},
	{commands.Awk, "@include \"/w/repo/x.awk\""},
	{commands.Awk, "BEGIN{ARGV[1]=\"../../README.md\";ARGC=2}{print}"},
	{commands.Opaque, "File.write!(\"../../x\", \"\")"},
	{commands.Opaque, "System.cmd(\"touch\", [\"/w/repo/x\"])"},
	{commands.Opaque, "os:cmd(\"touch ../../x\"), halt()."},
	{commands.Opaque, "'touch ../../x'.execute()"},
	{commands.Opaque, "new File('../../x').text = ''"},
	{commands.Opaque, "set output \"../../x\"; plot sin(x)"},
	{commands.Opaque, "system \"touch ../../x\""},
	{commands.Opaque, "writeFile \"../../x\" \"\""},
	{commands.Opaque, "p = \"/w/\" <> \"repo/x\"\nFile.rm!(p)"},
	{commands.Opaque, "1\n!touch ../../x"},
	{commands.Opaque, "cd ../..; delete x"},
	{commands.Opaque, "os.write(os.pwd/os.up/os.up/\"x\",\"\")"},
}

// foreign is code in languages that are not read, which only mentions paths.
var foreign = []string{
	"IO.puts(\"/w/repo\")", "putStrLn \"../../x\"", "println('/w/repo')", "# see \"/w/repo\"\n1 + 1", "// new File('../../x')\n1", "disp('/w/repo')",
	"File.write!(\"build/x\", \"/api\")", "System.cmd(\"git\", [\"status\"])", "String.split(\"a/b\", \"/\")", "plot sin(x); set title \"a\"", "x' = 1; y' = 'a'", "say '/w/repo'.chars", "\"/w/repo\" |> IO.puts",
}

func TestDaily(t *testing.T) {
	for _, s := range daily {
		rep := Scan(s.lang, s.code, []string{"-c", "src/a.txt"})
		if why := leaks(rep); why != "" {
			t.Errorf("%s: %s\n\t%s%s", s.lang, s.code, mark.Words(why), show(rep))
		}
	}
}

// TestWays wants a path or a command to be named: opaque alone is not enough, for
// a policy may let opaque code pass.
func TestWays(t *testing.T) {
	for _, s := range ways {
		rep := Scan(s.lang, s.code, []string{"-c", "../../x"})
		rep.Opaque = ""
		if leaks(rep) == "" {
			t.Errorf("%s: %s\n\tpasses%s", s.lang, s.code, show(rep))
		}
	}
}

func TestForeign(t *testing.T) {
	for _, code := range foreign {
		rep := Scan(commands.Opaque, code, nil)
		if rep.Opaque == "" {
			t.Errorf("%s is not opaque", code)
		}
		rep.Opaque = ""
		if why := leaks(rep); why != "" {
			t.Errorf("%s: %s%s", code, mark.Words(why), show(rep))
		}
	}
}
