import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../src/codec/index.ts';
import { hasProgram, platformHas } from './support/requirements.ts';
import { startServer } from './support/server.ts';

// Links and snippets of all pages. Programs and whole procedures have their own tests.

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist/server/main.js');
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pagesBelow('docs')];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

function pagesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? pagesBelow(path) : entry.name.endsWith('.md') ? [path] : [];
  });
}

/** A page without its snippets. */
const prose = (text: string): string => text.replace(/^ *```.*?^ *```$/gms, '');

/** The targets of links in other than code: `[text](target)`. */
const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/(?<!`)\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

/** The anchors of a page, as forges make them of headings. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll('`', '')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Why a link of a page leads nowhere; undefined when it leads somewhere. */
function linkProblem(page: string, target: string, isThere: (path: string) => boolean): string | undefined {
  if (/^(?:https?|mailto):/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (file.startsWith('..') || !isThere(file)) return `${page}: ${target} is not a file`;
  if (anchor === undefined) return undefined;
  return anchorsOf(textOf(file)).has(anchor) ? undefined : `${page}: ${target} is not a heading`;
}

const problemsOf = (some: readonly string[], isThere: (path: string) => boolean): string[] =>
  some.flatMap((page) => linksOf(textOf(page)).flatMap((target) => linkProblem(page, target, isThere) ?? []));

describe('links', () => {
  it('lead to files and headings', () => {
    expect(pages.flatMap((page) => linksOf(textOf(page))).length).toBeGreaterThan(60);
    expect(problemsOf([...pages, 'SECURITY.md'], (path) => existsSync(join(root, path)))).toEqual([]);
  });

  it('are told when they lead nowhere', () => {
    const isThere = (path: string) => path === 'README.md';
    expect(linkProblem('README.md', 'docs/nothing.md', isThere)).toContain('is not a file');
    expect(linkProblem('docs/flags.md', '../../README.md', isThere)).toContain('is not a file');
    expect(linkProblem('README.md', '#nothing', isThere)).toContain('is not a heading');
    expect(linkProblem('docs/flags.md', '../README.md#a-test', isThere)).toBeUndefined();
  });

  it('lead to files of the package in the package', () => {
    const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, stdio: 'pipe' });
    const [{ files, size }] = JSON.parse(out.toString()) as [{ files: { path: string }[]; size: number }];
    const packed = new Set(files.map(({ path }) => path));
    const isThere = (path: string) => packed.has(path) || [...packed].some((file) => file.startsWith(`${path}/`));
    expect(pages.filter((page) => !packed.has(page))).toEqual([]);
    expect(problemsOf(pages, isThere)).toEqual([]);
    expect(size).toBeLessThan(5_000_000);
  });
});

interface Snippet {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const snippets: readonly Snippet[] = pages.flatMap((page) =>
  [...textOf(page).matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(([, , language = '', text = '']) => ({
    page,
    language,
    text,
  })),
);
const written = (language: string) => snippets.filter((snippet) => snippet.language === language);

/** The commands of `orch` in a snippet of the shell, as arguments. */
function orchCommands({ text }: Snippet): string[][] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines.flatMap((line) => {
    const code = line.replace(/(^|\s)#.*$/, '');
    const [, rest = ''] =
      /(?:^|[;|&] *|^npx |^sudo |docker exec \w+ )(?:npx )?(?:orch|node \S+\/dist\/server\/main\.js|npm start --) (.*)$/.exec(
        code,
      ) ?? [];
    if (rest === '') return [];
    const args = rest
      .replace(/\s[&>|].*$/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    return [/npm start --/.test(code) ? ['serve', ...args] : args];
  });
}

describe('snippets', () => {
  it('of the shell are words that bash can parse', () => {
    const invalid = written('sh').flatMap(({ page, text }) => {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
      return status === 0 ? [] : [`${page}: ${stderr}`];
    });
    expect(invalid).toEqual([]);
    expect(written('sh').length).toBeGreaterThan(20);
  });

  it('name commands and flags that exist', () => {
    const helps = new Map<string, string>();
    const helpOf = (command: string) => {
      const known = helps.get(command);
      if (known !== undefined) return known;
      const { status, stdout } = spawnSync(process.execPath, [main, command, '--help'], { encoding: 'utf8' });
      const help = status === 0 ? stdout : '';
      helps.set(command, help);
      return help;
    };
    const all = written('sh').flatMap((snippet) => orchCommands(snippet).map((args) => ({ page: snippet.page, args })));
    expect(all.length).toBeGreaterThan(25);
    const wrong = all.flatMap(({ page, args: [command = '', ...flags] }) => {
      // The flags of `orch ctl` belong to its commands: test/ctl-document.test.ts runs its page.
      if (command.startsWith('--') || command === 'ctl') return [];
      const help = helpOf(command);
      if (help === '') return [`${page}: orch ${command} is not a command`];
      const named = flags.filter((flag) => flag.startsWith('--')).map((flag) => flag.slice(2).split('=')[0]);
      return named
        .filter((name) => !help.includes(`--${name}=<`))
        .map((name) => `${page}: orch ${command} has no --${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('in YAML and JSON can be parsed', () => {
    const invalid = [...written('yaml'), ...written('json')].flatMap(({ page, text }) =>
      text.split(/^---$/m).flatMap((document) => {
        try {
          const { findings } = parseYaml(Buffer.from(document));
          return findings.map((finding) => `${page}: ${finding}`);
        } catch (error) {
          return [`${page}: ${String(error)}`];
        }
      }),
    );
    expect(invalid).toEqual([]);
    expect(written('yaml').length).toBeGreaterThan(10);
  });
});

const shells = (page: string) =>
  written('sh')
    .filter((snippet) => snippet.page === page)
    .map(({ text }) => text);
const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Runs commands of a page in a folder, where `orch` is the built one. */
function run(folder: string, commands: string): string {
  const script = `orch() { ${process.execPath} ${main} "$@"; }\n${commands}`;
  return execFileSync('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}

describe('pages of operators', () => {
  const folders: string[] = [];
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-pages-'));
    folders.push(folder);
    return folder;
  };

  it('backup.md and upgrades.md: their commands work as they stand', async () => {
    const server = await startServer();
    const folder = newFolder();
    try {
      mkdirSync(join(folder, 'orch-data'));
      symlinkSync(server.folder, join(folder, 'orch-data/k8s.io'), 'junction');
      const config = `apiVersion: apiserver.config.orch.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [{ identity: {} }] }]
`;
      writeFileSync(join(folder, 'encryption.yaml'), config, { mode: 0o600 });
      const [backup = '', ...others] = shells('docs/backup.md');
      const check = others.find((commands) => commands.startsWith('orch check ')) ?? '';
      const local = (text: string) =>
        lines(text)
          .filter((line) => !line.includes('etcd'))
          .join('\n');
      const out = run(folder, `${local(backup)}\n${local(check)}`);
      expect(out.match(/0 errors, 0 warnings|"ok":true/g)).toHaveLength(3);
      const [before = '', after = ''] = shells('docs/upgrades.md');
      expect(run(folder, before + after).match(/0 errors, 0 warnings/g)).toHaveLength(3);
    } finally {
      await server.stop();
      for (const each of folders) rmSync(each, { recursive: true, force: true });
    }
  });

  const tools = () => hasProgram('openssl', 'version') && hasProgram('curl', '--version');
  it.skipIf(!tools())('tls.md: its certificates serve, and a client of the authority is somebody', async () => {
    const folder = newFolder();
    const [make = '', serve = '', ask = ''] = shells('docs/tls.md');
    run(folder, make);
    const flags = serve
      .trim()
      .split(' ')
      .slice(2)
      .map((flag) => flag.replace('=', `=${folder}/`));
    const server = await startServer(flags, newFolder());
    try {
      const call = (path: string) =>
        run(
          folder,
          ask.replace(
            'https://localhost:6443/version',
            new URL(path, server.url.replace('127.0.0.1', 'localhost')).href,
          ),
        );
      expect(call('/version')).toContain('"gitVersion"');
      expect(call('/api/v1/namespaces/default/configmaps')).toContain('User \\"jane\\" cannot list resource');
    } finally {
      await server.stop();
    }
  });

  const hasProc = () =>
    platformHas(process.platform === 'linux', 'the figures of docs/sizing.md are measured on Linux');
  it.skipIf(!hasProc())('sizing.md: its table has what the measurement prints', { timeout: 300_000 }, () => {
    const flags = ['--objects=200,300', '--watches=10'];
    const out = execFileSync(process.execPath, [join(root, 'bench/sizing.mjs'), ...flags], { encoding: 'utf8' });
    const rowsOf = (text: string) =>
      [...text.matchAll(/^\| (\S.*?) \| -?[\d.]+ (?:[km]s|s|MB|KB)(?:, [\d.-]+ KB each)? \|$/gim)].map(([, row = '']) =>
        row.replace(/[\d,]+/g, 'N'),
      );
    expect(rowsOf(out).length).toBe(out.trim().split('\n').length);
    expect(rowsOf(textOf('docs/sizing.md'))).toEqual(rowsOf(out));
  });
});
