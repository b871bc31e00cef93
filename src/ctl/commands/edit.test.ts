import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CtlBench, ctlBench } from '../testing/run-ctl.ts';

let bench: CtlBench;
beforeAll(async () => {
  bench = await ctlBench({ controllersThread: false });
});
afterAll(() => bench.close());

/**
 * Edits a new config map with a program of sed, which runs at each opening of the editor. One that changes nothing the second
 * time is a user who gives up.
 */
async function edit(name: string, program: string) {
  await bench.run('create', 'configmap', name, '--from-literal=a=1');
  const env = { KUBE_EDITOR: `sed -i "${program}"`, PATH: process.env['PATH'] ?? '' };
  const { status, stdout, stderr } = await bench.start(['edit', 'configmap', name], '', { env }).ended;
  const file = /\S+object\.yaml/.exec(stderr)?.[0].replaceAll('"', '') ?? '';
  return { status, stdout, stderr: stderr.replaceAll(file || '\0', 'FILE'), file };
}

/** The mode and the content of a file that remained, which is removed. */
function takeFile(file: string) {
  const taken = { mode: statSync(file).mode & 0o777, content: readFileSync(file, 'utf8') };
  rmSync(dirname(file), { recursive: true });
  return taken;
}

// The texts and statuses are those of kubectl.
describe('an edit that the server refuses', () => {
  it('is opened again with the reasons, and accepted once it is corrected', async () => {
    // At the second opening, the comment with the reason becomes the key of the first.
    const reason = '/^# \\* data\\[a b\\]: Invalid value/,$ s/^  a b: /  seen: /; s/^  a: /  a b: /';
    expect(await edit('corrected', reason)).toEqual({
      status: 0,
      stdout: 'configmap/corrected edited\n',
      stderr: 'error: configmaps "corrected" is invalid\n',
      file: '',
    });
    expect((await bench.run('get', 'cm', 'corrected', '-o', 'jsonpath={.data}')).stdout).toBe('{"seen":"1"}');
  });

  it.each([
    ['invalid', 's/^  a: /  a b: /', '# * data[a b]: Invalid value: "a b": a valid config key must', '  a b: "1"'],
    ['unreadable', 's/^data:$/data: [/', '# * error parsing the edited file: ', 'data: ['],
    ['unknown', 's/^kind: ConfigMap/dota: {}\\nkind: \\"ConfigMap\\"/', 'unknown field "dota"', 'dota: {}'],
  ])('remains in a private file when the user leaves it as it is: %s', async (name, program, reason, line) => {
    const { status, stdout, stderr, file } = await edit(name, program);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `error: configmaps "${name}" is invalid
A copy of your changes has been stored to "FILE"
error: Edit cancelled, no valid changes were saved.
`,
    });
    const { mode, content } = takeFile(file);
    expect(mode).toBe(0o600);
    expect(content).toContain(`#\n# configmaps "${name}" was not valid:\n# * `);
    expect(content).toContain(reason);
    expect(content).toContain(`\n${line}\n`);
  });

  it.each([
    [
      'outdated',
      's/resourceVersion: .*/resourceVersion: \\"1\\"/; s/^  a: .*/  a: mine/',
      `error: configmaps "outdated" could not be patched: Operation cannot be fulfilled on configmaps "outdated": the object has been modified; please apply your changes to the latest version and try again
You can run \`orch ctl replace -f FILE\` to try this update again.
`,
    ],
    [
      'renamed',
      's/name: renamed/name: other/; s/^  a: .*/  a: mine/',
      'A copy of your changes has been stored to "FILE"\nerror: At least one of apiVersion, kind and name was changed\n',
    ],
  ])('remains in a file when another edit cannot help: %s', async (name, program, message) => {
    const { file, ...end } = await edit(name, program);
    expect(end).toEqual({ status: 1, stdout: '', stderr: message });
    expect(takeFile(file).content).toContain('\n  a: mine\n');
  });

  it('remains in a file when the object has been deleted meanwhile', async () => {
    await bench.run('create', 'configmap', 'gone', '--from-literal=a=1');
    const opened = join(bench.folder, 'opened');
    const editor = `sh -c 'sed -i "s/^  a: .*/  a: mine/" "$0"; touch ${opened}; while [ -e ${opened} ]; do sleep 0.05; done'`;
    const env = { KUBE_EDITOR: editor, PATH: process.env['PATH'] ?? '' };
    const running = bench.start(['edit', 'configmap', 'gone'], '', { env });
    await expect.poll(() => existsSync(opened)).toBe(true);
    await bench.run('delete', 'configmap', 'gone');
    rmSync(opened);
    const { status, stderr } = await running.ended;
    const file = /"(\S+object\.yaml)"/.exec(stderr)?.[1] ?? '';
    expect([status, stderr.replace(file, 'FILE')]).toEqual([
      1,
      `error: configmaps "gone" could not be found on the server
The edits you made on deleted resources have been saved to "FILE"
`,
    ]);
    expect(takeFile(file).content).toContain('\n  a: mine\n');
  });
});

it('an edit without changes, or of an empty file, changes nothing', async () => {
  for (const [name, program] of [
    ['same', ''],
    ['emptied', '1,$ d'],
  ] as const) {
    expect(await edit(name, program)).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Edit cancelled, no changes made.\n',
      file: '',
    });
  }
});
