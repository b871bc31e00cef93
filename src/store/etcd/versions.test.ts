import { expect, it } from 'vitest';
import type { Member, Members } from './members.ts';
import type { Rpc } from './rpc.ts';
import { checkVersions } from './versions.ts';

/** Members of these versions; one without a version does not answer. */
function membersOf(versions: readonly (string | undefined)[]): Pick<Members, 'all' | 'read' | 'sendTo'> {
  const all = versions.map((version) => ({ endpoint: `http://${version}` }) as Member);
  const answer = async (endpoint: string) => {
    const version = endpoint.slice('http://'.length);
    if (version === 'undefined') throw new Error('no answer');
    return { version };
  };
  return {
    all,
    read: (async () => answer(all[0]?.endpoint ?? '')) as Members['read'],
    sendTo: (async ({ endpoint }: Member) => answer(endpoint)) as Members['sendTo'],
  };
}
const rpc = {} as Rpc;

it.each([[['3.5.8']], [['3.5.16', '3.5.10']], [['3.6.0-rc.1', '4.0.0']], [['3.5.8', undefined]]])(
  'members of the versions %j are new enough',
  async (versions) => {
    await expect(checkVersions(membersOf(versions), rpc)).resolves.toBeUndefined();
  },
);

it.each([['3.5.7'], ['3.4.23'], ['3.3.27'], ['2.9.99']])('a member of version %s is refused', async (version) => {
  await expect(checkVersions(membersOf(['3.5.16', version]), rpc)).rejects.toMatchObject({
    code: 'invalid',
    message: `etcd at http://${version} has version ${version}; it must be 3.5.8 or newer`,
  });
});
