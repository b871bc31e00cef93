import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CtlEnd, ctl } from './support/ctl.ts';
import { type KustomizationCase, kustomizations } from './support/kustomizations.ts';
import { hasKubectl } from './support/requirements.ts';

/** Timeout of a call of kubectl (ms). */
const callMs = 100_000;

describe.skipIf(!hasKubectl())('orch ctl kustomize beside kubectl', () => {
  const root = mkdtempSync(join(tmpdir(), 'kustomize-'));
  afterAll(() => rmSync(root, { recursive: true }));

  const both = async ({ folder = '.', files }: KustomizationCase, index: number): Promise<[CtlEnd, CtlEnd]> => {
    const cwd = join(root, String(index));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), content);
    }
    const theirs = new Promise<CtlEnd>((resolve) => {
      execFile('kubectl', ['kustomize', folder], { cwd, timeout: callMs }, (error, out, err) => {
        resolve({ code: error === null ? 0 : 1, out, err });
      });
    });
    return [await theirs, await ctl(['kustomize', folder], { folder: cwd })];
  };

  it.each(kustomizations.map((one, index) => ({ ...one, index })))('prints the same for $title', async (one) => {
    const [theirs, ours] = await both(one, one.index);
    // The texts of errors differ: those of this client name the file and the field.
    expect([ours.code, ours.out]).toEqual([theirs.code, theirs.out]);
    expect(ours.code).toBe(one.fails === true ? 1 : 0);
    expect(ours.out === '').toBe(one.fails === true);
  });

  it('refuses a symbolic link that leads out of the folder, as kubectl does', async () => {
    const outside = join(root, 'outside.yaml');
    writeFileSync(outside, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
    mkdirSync(join(root, 'link'));
    symlinkSync(outside, join(root, 'link/a.yaml'));
    const files = { '../link/kustomization.yaml': 'resources: [a.yaml]\n' };
    const [theirs, ours] = await both({ title: '', folder: '../link', files }, kustomizations.length);
    expect([theirs.code, ours.code]).toEqual([1, 1]);
    expect(ours.err).toContain("is not in or below '");
  });
});
