import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { ByteString } from '../../meta/index.ts';
import { checkCommit } from '../check.ts';
import type { Store } from '../store.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { absent, put, text } from '../testing/tools.ts';
import { Commits, type CommitTools } from './commits.ts';
import { openEtcdStore } from './etcd-store.ts';
import { KeySpace } from './key-space.ts';
import type { Leases } from './leases.ts';
import { Members } from './members.ts';
import { loadRpc } from './rpc.ts';
import { Slots } from './slots.ts';

const program = etcdPath();
const clock = realClock();
const prefix = '/registry' as ByteString;

describe.skipIf(program === undefined)('a commit over etcd', () => {
  let etcd: TestEtcd;
  let others: Store;
  let members: Members;
  let tools: Omit<CommitTools, 'slots'>;
  let commits: Commits;
  /** The fates of the next requests; the others arrive and are answered. A late request arrives when the test sends it. */
  const fates: ('request lost' | 'request late' | 'answer lost')[] = [];
  const lateRequests: (() => Promise<unknown>)[] = [];
  let requests = 0;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
    const { servers: endpoints } = etcd;
    others = await openEtcdStore({ servers: endpoints, prefix, clock, random: realRandom });
    const rpc = await loadRpc();
    const keys = new KeySpace(prefix);
    const tls = async () => ({ ca: undefined, cert: undefined, key: undefined });
    members = await Members.open({ endpoints, tls, probe: keys.range('' as ByteString).key, clock, rpc });
    const send = members.send.bind(members);
    members.send = async (...request) => {
      requests++;
      const fate = fates.shift();
      if (fate === 'request late') lateRequests.push(() => send(...request));
      if (fate === 'request lost' || fate === 'request late') throw new Error(fate);
      const answer = await send(...request);
      if (fate === 'answer lost') throw new Error(fate);
      return answer as never;
    };
    tools = { members, keys, clock, rpc, leases: undefined as unknown as Leases };
  });
  beforeEach(() => {
    commits = new Commits({ ...tools, slots: new Slots(prefix, realRandom) });
  });
  afterAll(async () => {
    await members.close();
    await others.close();
    await etcd.stop();
  });
  const commit: Store['commit'] = (...args) => {
    const { compares, writes } = checkCommit(...args, 1_000_000);
    return commits.commit(compares, writes);
  };

  it('that did not arrive is not a success when the answer to its refusal is lost', async () => {
    const theirs = await others.commit([absent('/a')], [put('/a', 'theirs')]);
    fates.push('request lost', 'answer lost');
    const result = await commit([absent('/a')], [put('/a', 'mine')]);
    expect(result).toMatchObject({ ok: false, found: [{ revision: theirs.revision }] });
    expect(text((await others.get('/a')).entry)).toBe('theirs');
  });

  it('that took place is answered with its revision, however many answers are lost', async () => {
    fates.push('answer lost');
    const told = await commit([absent('/b')], [put('/b')]);
    expect(told).toEqual({ ok: true, revision: (await others.get('/b')).entry?.revision });
    fates.push('answer lost', 'answer lost', 'request lost', 'answer lost');
    const late = await commit([absent('/c')], [put('/c')]);
    expect(late).toEqual({ ok: true, revision: (await others.get('/c')).entry?.revision });
  });

  it('never takes place after it was reported as refused, even when its first request arrives late', async () => {
    await others.commit([absent('/d')], [put('/d', 'theirs')]);
    fates.push('request late');
    expect(await commit([absent('/d')], [put('/d', 'mine')])).toMatchObject({ ok: false });
    await others.commit([], [{ key: '/d' }]);
    expect(await lateRequests.pop()?.()).toMatchObject({ succeeded: false });
    expect((await others.get('/d')).entry).toBeUndefined();
  });

  it('is sent once after one that was refused at its second attempt, whose slot is not used again', async () => {
    await others.commit([absent('/e')], [put('/e', 'theirs')]);
    fates.push('request lost');
    expect(await commit([absent('/e')], [put('/e', 'mine')])).toMatchObject({ ok: false });
    requests = 0;
    expect(await commit([absent('/f')], [put('/f')])).toMatchObject({ ok: true });
    expect(requests).toBe(1);
  });
});
