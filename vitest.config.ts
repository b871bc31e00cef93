import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification, type VitestPluginContext } from 'vitest/node';
import { durations, fileOf } from './scripts/test-durations.mjs';
import { isMine, isNewest } from './scripts/test-turns.mjs';
import { pathWithKubectl } from './test/support/kubectl-path.ts';

// Runs on several versions of Node may go side by side.
const worker = join(import.meta.dirname, `dist/test/yaml-worker-${process.version}.js`);

/** Where tests create their temporary folders. They need not remove them. */
const temporary = mkdtempSync(join(tmpdir(), 'orch-tests-'));
// Some run programs as another user.
chmodSync(temporary, 0o755);
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));

/**
 * Test files that replace modules, measure their process or break a file descriptor that native code uses, which may corrupt
 * the heap: each gets a process of its own. The others share theirs.
 */
const processWide =
  /\bvi\.(?:mock|doMock|useFakeTimers)\(|\bprocess\.(?:memoryUsage|cpuUsage)\(|\bWorkCounter\b|setFlagsFromString|monitorEventLoopDelay|\bfailSyncWrites\(/;
const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
);
/** The seconds that a test file takes; 0 for one that takes few or has not been measured. */
const secondsOf = (file: string) => durations[file] ?? 0;

/** Puts every store in memory behind watches that are `LATE_WATCH_MS` late. */
const lateWatches = {
  name: 'late-watches',
  transform: (code: string, id: string) =>
    process.env['LATE_WATCH_MS'] !== undefined && id.endsWith('/src/store/index.ts')
      ? code.replace('./memory/memory-store.ts', './testing/late-memory-store.ts')
      : undefined,
};

/** Makes each step of long work longer than a slice, as on a slow machine, with `SLOW_STEPS`. */
const slowSteps = {
  name: 'slow-steps',
  transform: (code: string, id: string) =>
    process.env['SLOW_STEPS'] !== undefined && id.endsWith('/src/meta/scheduler.ts')
      ? `let reads = 0;\n${code.replace('performance.now()', '10 * ++reads')}`
      : undefined,
};

/** Modules that the cache of transformed modules leaves out: what a plugin makes of them depends on more than their text. */
const uncached = ['/src/http/codecs/yaml-thread.ts', '/src/store/index.ts', '/src/meta/scheduler.ts'];

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');

/** What differs between versions of Node: sockets, files, threads, cryptography, compression. */
const nodeApi = /from 'node:(?:child_process|crypto|dns|fs|https?|http2|net|stream|tls|v8|worker_threads|zlib)\b/;
const nodeRooms = /^src\/(?:audit|auth|client|codec|encryption|http|pki|server|store|tracing)\//;

/** Whether a test of these rooms, or the module that it tests, imports such a part of Node. */
const usesNode = (file: string) =>
  nodeRooms.test(file) &&
  [file, file.replace('.test.ts', '.ts')].some(
    (path) => existsSync(join(import.meta.dirname, path)) && nodeApi.test(read(path)),
  );

/**
 * Where several versions of Node run the tests, a test that uses Node runs on each, one that only computes on the newest, and
 * a long one that uses Node, or starts servers, on one of them.
 */
const sharedOut = files
  // The scenarios of attacks are shared out by themselves.
  .filter(
    (file) => file !== 'test/abuse.test.ts' && (file.startsWith('test/') || (usesNode(file) && secondsOf(file) > 0)),
  )
  .sort((a, b) => secondsOf(b) - secondsOf(a));
const runsHere = (file: string) => {
  const place = sharedOut.indexOf(file);
  return place < 0 ? isNewest || file === 'test/abuse.test.ts' || usesNode(file) : isMine(place);
};

const mine = files.filter(runsHere);
const isolated = mine.filter((file) => processWide.test(read(file)));
const shared = mine.filter((file) => !isolated.includes(file));

/**
 * Starts isolated files first, so that a shared process is not stopped before its queue is empty; then the longest: one that
 * starts last keeps the others waiting.
 */
class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'isolated' ? Number.POSITIVE_INFINITY : secondsOf(fileOf({ moduleId }));
    return (await super.sort(specs)).sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
  }
}

export default defineConfig({
  plugins: [
    {
      // Node loads what a worker runs by itself, and not every Node knows TypeScript: tests run a bundle of the source.
      name: 'bundled-worker',
      configureVitest: ({ experimental_defineCacheKeyGenerator }: VitestPluginContext) =>
        experimental_defineCacheKeyGenerator(({ id }) =>
          uncached.some((file) => id.endsWith(file)) ? false : undefined,
        ),
      async transform(code: string, id: string) {
        if (!id.endsWith('/src/http/codecs/yaml-thread.ts')) return undefined;
        await build({
          input: 'src/http/codecs/yaml-worker.ts',
          platform: 'node',
          external: ['yaml'],
          output: { file: worker },
        });
        return code.replace('./yaml-worker.js', pathToFileURL(worker).href);
      },
    },
    lateWatches,
    slowSteps,
  ],
  test: {
    // They end tests that hang. On a busy machine everything takes long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // Twice the cores of continuous integration: a test file computes for half of its time, and waits for processes, for
    // timeouts or for the next second in the other half.
    maxWorkers: 4,
    env: { PATH: pathWithKubectl(process.env['PATH'] ?? ''), TMPDIR: temporary, TEMP: temporary },
    restoreMocks: true,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    // The run on each Node reads the modules that the first one transformed.
    experimental: { fsModuleCache: true },
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
