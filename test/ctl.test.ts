import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CtlEnd, ctl, wordsOf } from './support/ctl.ts';
import { changing, differences, reading } from './support/ctl-transcript.ts';
import { configMap, type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

/** How many command lines run at a time. */
const atOnce = 4;

// The same command lines by both clients against one server: standard output, standard error and exit status are equal.
describe.skipIf(!hasKubectl())('orch ctl beside kubectl', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl(['--demo']);
    kubectl.file('two.yaml', `${configMap('one', '{ a: "1" }')}---\n${configMap('two', '{ a: "1" }')}`);
    kubectl.file('odd.yaml', `${configMap('odd', '{}')}foo: 1\n`);
    kubectl.file('nover.yaml', 'kind: ConfigMap\nmetadata: { name: odd }\n');
    kubectl.file('three.yaml', configMap('three', '{}'));
    kubectl.file('dep.yaml', deployment);
    mkdirSync(join(kubectl.server.folder, 'files'));
    kubectl.file('files/f1', 'hello\n');
    kubectl.file('files/e.env', 'A=1\n#c\nB=2\n');
    for (const namespace of ['nsk', 'nso']) await kubectl.run('create', 'ns', namespace);
  });
  afterAll(() => kubectl.server.stop());

  const both = async (line: string): Promise<[CtlEnd, CtlEnd]> => {
    const { folder, kubeconfig } = kubectl.server;
    const [theirs, ours] = await Promise.all([
      kubectl.ends(wordsOf(line.replaceAll('NS', 'nsk'))),
      ctl(wordsOf(line.replaceAll('NS', 'nso')), { folder, env: { KUBECONFIG: kubeconfig } }),
    ]);
    return [normal(theirs), normal(ours)];
  };
  const differing = async (line: string): Promise<string[]> => {
    const [theirs, ours] = await both(line);
    try {
      expect(ours, line).toEqual(theirs);
      return [];
    } catch (error) {
      return [`${line}\n${(error as Error).message}\n${JSON.stringify({ theirs, ours }, undefined, 1)}`];
    }
  };

  it('answers what only reads as kubectl does', async () => {
    const queue = reading.filter(isSame);
    const failures: string[] = [];
    const work = async () => {
      for (let line = queue.shift(); line !== undefined; line = queue.shift()) {
        for (const failure of await differing(line)) failures.push(failure);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(failures.join('\n\n')).toBe('');
  });

  it('changes objects as kubectl does, and says so in the same words', async () => {
    const failures: string[] = [];
    for (const line of changing) {
      const found = await differing(line);
      // Lines with intended differences still have to run, because later lines depend on them.
      if (isSame(line)) for (const failure of found) failures.push(failure);
    }
    expect(failures.join('\n\n')).toBe('');
  });

  it('differs by intention in the listed command lines only', async () => {
    const lines = differences.flatMap((difference) => difference.lines);
    expect(lines.filter((line) => !reading.includes(line) && !changing.includes(line))).toEqual([]);
    const same: string[] = [];
    for (const line of lines.filter((each) => reading.includes(each))) {
      const [theirs, ours] = await both(line);
      if (JSON.stringify(theirs) === JSON.stringify(ours)) same.push(line);
    }
    expect(same).toEqual([]);
    expect(reading.length + changing.length - lines.length).toBeGreaterThanOrEqual(150);
  });

  it('watches as kubectl does: the objects, then each change of them', async () => {
    const { folder, kubeconfig } = kubectl.server;
    const stop = new AbortController();
    const watching = ctl(['get', 'cm', '-n', 'nsk', '-w', '-o', 'name', '--field-selector=metadata.name=watched'], {
      folder,
      env: { KUBECONFIG: kubeconfig },
      signal: stop.signal,
    });
    const theirs = kubectl.start(
      'get',
      'cm',
      '-n',
      'nsk',
      '-w',
      '-o',
      'name',
      '--field-selector=metadata.name=watched',
    );
    await kubectl.run('create', 'cm', 'watched', '-n', 'nsk');
    await theirs.until(/configmap\/watched/);
    theirs.stop();
    await kubectl.run('annotate', 'cm', 'watched', 'a=b', '-n', 'nsk');
    stop.abort();
    expect(await watching).toMatchObject({ code: 130, out: expect.stringMatching(/^(?:configmap\/watched\n)*$/) });
  });

  it('edits an object with the editor of the environment', async () => {
    const { folder, kubeconfig } = kubectl.server;
    await kubectl.run('create', 'cm', 'edited', '-n', 'nsk', '--from-literal=a=1');
    const env = { ...process.env, KUBECONFIG: kubeconfig } as { [name: string]: string };
    const change = { ...env, KUBE_EDITOR: `sed -i 's/a: "1"/a: "2"/'` };
    expect(await ctl(['edit', 'cm/edited', '-n', 'nsk'], { folder, env: change })).toEqual({
      code: 0,
      out: 'configmap/edited edited\n',
      err: '',
    });
    expect(await kubectl.read('cm/edited', '{.data.a}', '-n', 'nsk')).toBe('2');
    const nothing = { ...env, KUBE_EDITOR: 'true' };
    const { err } = await ctl(['edit', 'cm/edited', '-n', 'nsk'], { folder, env: nothing });
    expect(err).toBe('Edit cancelled, no changes made.\n');
  });

  it('finds the differences between files and the server that kubectl finds', async () => {
    const { folder, kubeconfig } = kubectl.server;
    copyFileSync(join(folder, 'two.yaml'), join(folder, 'diff.yaml'));
    const env = { KUBECONFIG: kubeconfig };
    const theirs = await kubectl.ends(['diff', '-f', 'diff.yaml', '--server-side', '-n', 'nsk']);
    const ours = await ctl(['diff', '-f', 'diff.yaml', '-n', 'nsk'], { folder, env });
    const changes = (text: string) =>
      text.split('\n').filter((line) => /^[-+@ ](?!-- |\+\+ )/.test(line) && !/uid|Timestamp/.test(line));
    expect([ours.code, changes(ours.out)]).toEqual([theirs.code, changes(theirs.out)]);
    await ctl(['apply', '-f', 'diff.yaml', '-n', 'nsk'], { folder, env });
    expect(await ctl(['diff', '-f', 'diff.yaml', '-n', 'nsk'], { folder, env })).toEqual({ code: 0, out: '', err: '' });
  });

  it('prunes the objects that left an apply set, and no others', async () => {
    const { folder, kubeconfig } = kubectl.server;
    const env = { KUBECONFIG: kubeconfig };
    const set = ['--prune', '--applyset=app', '-n', 'nsk'];
    kubectl.file('set.yaml', `${configMap('first', '{}')}---\n${configMap('second', '{}')}`);
    expect((await ctl(['apply', '-f', 'set.yaml', ...set], { folder, env })).code).toBe(0);
    kubectl.file('set.yaml', configMap('first', '{}'));
    expect(await ctl(['apply', '-f', 'set.yaml', ...set], { folder, env })).toEqual({
      code: 0,
      out: 'configmap/first serverside-applied\nconfigmap/second pruned\n',
      err: '',
    });
    expect(
      await kubectl.run('get', 'cm', 'first', 'kube-root-ca.crt', '-n', 'nsk', '--ignore-not-found', '-o', 'name'),
    ).toContain('configmap/first');
    expect(await kubectl.run('get', 'cm', 'second', '-n', 'nsk', '--ignore-not-found')).toBe('');
  });
});

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: { name: dep }
spec:
  selector: { matchLabels: { app: dep } }
  template:
    metadata: { labels: { app: dep } }
    spec:
      containers:
        - { name: main, image: "m:1", env: [{ name: A, value: "1" }] }
        - { name: side, image: "s:1" }
`;

const isSame = (line: string) => !differences.some(({ lines }) => lines.includes(line));

/** Without what differs between two runs, and with the name of one program. */
function normal({ code, out, err }: CtlEnd): CtlEnd {
  return { code, out: text(out), err: text(err) };
}

const text = (printed: string): string =>
  printed
    .replaceAll('orch ctl', 'kubectl')
    .replaceAll(/ns[ko]\b/g, 'NS')
    .replaceAll(/uid: [0-9a-f-]{36}/g, 'uid: U')
    .replaceAll(/resourceVersion: "\d+"/g, 'resourceVersion: V')
    .replaceAll(/Timestamp: "[^"]+"/g, 'Timestamp: T')
    // Ages grow while the clients run, and change the width of their column.
    .replaceAll(/ +(?:\d+[smhd])+\b/g, ' AGE')
    .replaceAll(/^(NAME.*?) +AGE\b/gm, '$1 AGE')
    .replaceAll(/\bAGE {2,}/g, 'AGE  ');
