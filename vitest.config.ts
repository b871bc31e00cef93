import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const worker = join(import.meta.dirname, 'dist/test/yaml-worker.js');

/** Test files that replace modules or measure their process: each gets a process of its own. The others share theirs. */
const processWide =
  /\bvi\.(?:mock|doMock|useFakeTimers)\(|\bprocess\.(?:memoryUsage|cpuUsage)\(|\bWorkCounter\b|setFlagsFromString|monitorEventLoopDelay/;
const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
);
/** The test files that take longest, longest first: one that starts last keeps the others waiting. */
const longest = [
  'test/abuse.test.ts',
  'test/first-contact.test.ts',
  'test/crash-controllers.test.ts',
  'test/replay.test.ts',
  'src/store/etcd/etcd.test.ts',
  'test/kubectl-workloads.test.ts',
  'test/replay-controllers.test.ts',
  'test/replay-providers.test.ts',
  'test/large-objects.test.ts',
  'test/migrate.test.ts',
  'src/encryption/encrypted-etcd.test.ts',
  'test/watch-checker.test.ts',
  'test/kubectl-writes.test.ts',
  'test/kubectl-apply.test.ts',
  'test/kubectl-nodes.test.ts',
  'test/kubectl-auth.test.ts',
  'test/testing-runners.test.ts',
  'test/kubectl-operators.test.ts',
  'test/kubectl.test.ts',
  'test/relay.test.ts',
  'src/controllers/fake-nodes/fake-nodes.test.ts',
  'test/torture/torture.test.ts',
  'test/fuzz.test.ts',
  'test/rewrite.test.ts',
  'src/store/etcd/members.test.ts',
  'src/store/etcd/failures.test.ts',
  'test/backup.test.ts',
  'test/kubectl-custom.test.ts',
  'test/envtest.test.ts',
  'test/start-errors.test.ts',
  'test/kubectl-fake-nodes.test.ts',
  'test/etcd.test.ts',
  'test/deploy.test.ts',
  'test/testing-document.test.ts',
  'test/serve.test.ts',
  'test/documents.test.ts',
  'test/generate.test.ts',
  'test/package.test.ts',
  'test/demo.test.ts',
  'test/check.test.ts',
  'test/controllers.test.ts',
  'test/bench.test.ts',
  'src/server/harness/test-server.test.ts',
  'src/store/lmdb/lmdb.test.ts',
  'test/readme.test.ts',
  'src/codec/yaml.test.ts',
  'test/house.test.ts',
  'test/spec-lists.test.ts',
  'src/store/lmdb/crash.test.ts',
  'test/replicas.test.ts',
  'test/spec-watches.test.ts',
  'src/http/yaml-thread.test.ts',
  'src/http/attacks.test.ts',
  'src/store/etcd/snapshot.test.ts',
  'test/encryption.test.ts',
  'src/store/etcd/upkeep.test.ts',
  'test/etcd-tls.test.ts',
  'src/server/rolling-restart.test.ts',
  'src/store/lmdb/damage.test.ts',
  'src/codec/json.test.ts',
  'src/server/credentials.test.ts',
  'src/server/harness/faults.test.ts',
  'src/server/api-versions.test.ts',
  'src/encryption/encrypted-store.test.ts',
  'src/store/history-kept.test.ts',
  'src/http/openapi-fragments.test.ts',
  'src/server/encryption.test.ts',
  'src/server/open-store.test.ts',
  'src/server/many-servers.test.ts',
  'src/server/service-endpoints.test.ts',
  'src/server/features.test.ts',
  'src/server/replicas.test.ts',
  'src/encryption/kms/kms-provider.test.ts',
];

/** Puts every store in memory behind watches that are `LATE_WATCH_MS` late. */
const lateWatches = {
  name: 'late-watches',
  transform: (code: string, id: string) =>
    process.env['LATE_WATCH_MS'] !== undefined && id.endsWith('/src/store/index.ts')
      ? code.replace('./memory/memory-store.ts', './testing/late-memory-store.ts')
      : undefined,
};

/** The rooms that use what differs between versions of Node: sockets, files, threads, cryptography, compression. */
const nodeRooms = /^src\/(?:audit|auth|client|codec|encryption|http|pki|server|store|tracing)\//;

/** The files that take turns where several versions of Node run the tests: the longest, and those outside these rooms. */
const alternating = [
  // The scenarios of attacks take turns by themselves.
  ...longest.filter((file) => file !== 'test/abuse.test.ts'),
  ...files.filter((file) => !nodeRooms.test(file) && !longest.includes(file)),
];

/** `TEST_TURN=1/3` leaves out all but the second third of these: the other runs have theirs. */
const [turn = 0, turns = 1] = (process.env.TEST_TURN ?? '0/1').split('/').map(Number);
const mine = files.filter((file) => !alternating.includes(file) || alternating.indexOf(file) % turns === turn);
const isolated = mine.filter((file) => processWide.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
const shared = mine.filter((file) => !isolated.includes(file));

/** Starts isolated files first, so that a shared process is not stopped before its queue is empty; then the longest. */
class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
      return (project.name === 'isolated' ? 0 : longest.length) + (place < 0 ? longest.length : place);
    };
    return (await super.sort(specs)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  plugins: [
    {
      // Node loads what a worker runs by itself, and not every Node knows TypeScript: tests run a bundle of the source.
      name: 'bundled-worker',
      async transform(code: string, id: string) {
        if (!id.endsWith('/src/http/yaml-thread.ts')) return undefined;
        await build({
          input: 'src/http/yaml-worker.ts',
          platform: 'node',
          external: ['yaml'],
          output: { file: worker },
        });
        return code.replace('./yaml-worker.js', pathToFileURL(worker).href);
      },
    },
    lateWatches,
  ],
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // One more than cores: several files wait for kubectl, or for timeouts of scenarios.
    maxWorkers: 3,
    restoreMocks: true,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
