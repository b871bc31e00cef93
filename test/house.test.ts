import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult, type IModule } from 'dependency-cruiser';
import { beforeAll, describe, expect, it } from 'vitest';

// The rules of the house, checked on the whole tree. The table of rooms in ARCHITECTURE.md is the rule itself.
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const files = sources(join(root, 'src')).map((path) => relative(root, path));
const rooms = roomTable(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));
let modules: IModule[] = [];

beforeAll(async () => {
  const result = await cruise(
    ['src'],
    {
      parser: 'swc',
      tsPreCompilationDeps: true,
      moduleSystems: ['es6'],
      // Its own search for cycles takes most of the time.
      skipAnalysisNotInRules: true,
      // The parser does not know JSX: the imports of components are read from their text.
      doNotFollow: { path: 'node_modules|[.]tsx$' },
    },
    { extensions: ['.ts', '.mjs', '.js', '.json'], exportsFields: ['exports'], conditionNames: ['import'] },
  );
  const cruised = (result.output as ICruiseResult).modules.filter(({ source }) => /^src\/.*(?<![.]tsx)$/.test(source));
  modules = [...cruised, ...files.filter((file) => file.endsWith('.tsx')).map(componentModule)];
}, 120_000);

describe('layers', () => {
  it('reads every source file', () => {
    expect(modules.map((module) => module.source).sort()).toEqual([...files].sort());
    expect(modules.flatMap((module) => module.dependencies).length).toBeGreaterThan(files.length);
  });

  it('knows every room', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...rooms.keys()].sort());
  });

  it('lets a room import only the rooms of its row', () => {
    const offences = crossings().filter(({ from, to }) => !rooms.get(from)?.has(to));
    expect(offences).toEqual([]);
  });

  it('enters other rooms through their door only', () => {
    expect(
      crossings().filter(
        // Each file of `types` is the door of a group version, as the same names return in every version.
        ({ target, to }) => to !== 'types' && target !== `src/${to}/index.ts` && !target.includes('/testing/'),
      ),
    ).toEqual([]);
  });

  it('has no import cycles', () => {
    const importsOf = new Map(modules.map((m) => [m.source, m.dependencies.map(({ resolved }) => resolved)]));
    const leadsTo = (from: string, to: string) => {
      const reached = new Set([from]);
      for (const module of reached) for (const next of importsOf.get(module) ?? []) reached.add(next);
      return reached.has(to);
    };
    expect(leadsTo('src/server/main.ts', 'src/meta/names.ts')).toBe(true);
    expect(
      modules.flatMap((m) =>
        m.dependencies
          .filter((d) => !d.dependencyTypes.includes('type-only') && leadsTo(d.resolved, m.source))
          .map((d) => `${m.source} → ${d.resolved}`),
      ),
    ).toEqual([]);
  });

  it('resolves every import', () => {
    expect(
      modules.flatMap((m) => m.dependencies.filter((d) => d.couldNotResolve).map((d) => `${m.source} → ${d.module}`)),
    ).toEqual([]);
  });
});

describe('ARCHITECTURE.md, CONTRIBUTING.md and docs/design', () => {
  it('name files that exist', () => {
    const designPages = readdirSync(join(root, 'docs/design')).map((file) => `docs/design/${file}`);
    const text = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...designPages]
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n');
    const named = [...text.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|mjs|md))`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, 'src', path)))).toEqual([]);
  });
});

describe('words', () => {
  it('spells product names in meta/names.ts only', () => {
    const spelled = files.filter((file) => {
      // The documentation of the options is made from the flags, which take the names from there.
      if (['src/meta/names.ts', 'src/server/settings/server-options.ts'].includes(file)) return false;
      // Stand-ins for programs have their names and arguments.
      if (file.startsWith('src/server/envtest/')) return false;
      if (file.endsWith('.test.ts') || file.includes('/testing/')) return false;
      return /k8s\.io|kubernetes|orch\.io/i.test(readFileSync(join(root, file), 'utf8'));
    });
    expect(spelled).toEqual([]);
  });
});

describe('calls', () => {
  it('take no array of any length apart into their arguments, which the engine keeps on its stack', () => {
    const spread =
      /(\w+)\.(?:push|unshift|concat|apply|max|min|from(?:CharCode|CodePoint))\(\s*(?:[^(){}[\]]*,\s*)?\.\.\./g;
    const offences = files.flatMap((file) => {
      if (file.endsWith('.test.ts') || file.includes('/testing/')) return [];
      const calls = [...readFileSync(join(root, file), 'utf8').matchAll(spread)];
      // Kinds collect field errors in this way; one validation makes a limited number of them.
      const gathers = (name: string | undefined) =>
        file.startsWith('src/resources/') && /^(?:errors|own)$/.test(name ?? '');
      return calls.filter(([, name]) => !gathers(name)).map(([call]) => `${file}: ${call}`);
    });
    expect(offences).toEqual([]);
  });
});

/** A file with components, with its imports. */
function componentModule(source: string): IModule {
  const imports = /^import (type )?[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm;
  const dependencies = [...readFileSync(join(root, source), 'utf8').matchAll(imports)].map(
    ([, type, named = '', loaded = named]) => {
      const isOwn = loaded.startsWith('.');
      const resolved = isOwn ? join(dirname(source), loaded) : `node_modules/${loaded}`;
      const dependencyTypes = type === undefined ? [] : ['type-only'];
      return { module: loaded, resolved, couldNotResolve: isOwn && !existsSync(join(root, resolved)), dependencyTypes };
    },
  );
  return { source, dependencies } as unknown as IModule;
}

/** Imports that leave a room, tests of a room included. */
function crossings() {
  return modules.flatMap((module) =>
    module.dependencies
      .filter(
        (dependency) => dependency.resolved.startsWith('src/') && roomOf(dependency.resolved) !== roomOf(module.source),
      )
      // A test may set up what its room is handed at run time.
      .filter(() => !module.source.endsWith('.test.ts') && !module.source.includes('/testing/'))
      .map(({ resolved }) => ({
        file: module.source,
        from: roomOf(module.source),
        to: roomOf(resolved),
        target: resolved,
      })),
  );
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** Room → rooms it may import, from the rows `| floor | room | purpose | may import |`. */
function roomTable(text: string): Map<string, Set<string>> {
  const rows = [...text.matchAll(/^\| \w+ \| `(\w+)` \| .* \| ([^|]+) \|$/gm)];
  const names = rows.map(([, room = '']) => room);
  return new Map(
    rows.map(([, room = '', allowed = '']) => [
      room,
      new Set(allowed === 'all' ? names : allowed === 'none' ? [] : allowed.split(', ')),
    ]),
  );
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : /\.m?[jt]sx?$/.test(path) ? [path] : [];
  });
}
