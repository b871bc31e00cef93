import type { Infer } from '../../schema/index.ts';
import type { Volume, VolumeProjection } from '../../types/core-v1.ts';
import { MAX_WARNINGS } from '../shared/field-rules.ts';

/** A file of a volume, and its source when the volume is projected. */
interface File {
  readonly path: string;
  readonly source: string;
}

/** Warnings for files of a volume whose paths are equal or nested. */
export function overlappingPathWarnings({ name = '', configMap, secret, downwardAPI, projected }: Volume): string[] {
  const volume = `volume ${JSON.stringify(name)}`;
  const warn = (kind: string, files: readonly File[]) =>
    overlapsIn(files).map((clash) => `${volume} (${kind}): overlapping paths: ${clash}`);
  const warnings = [
    ...warn(`ConfigMap ${JSON.stringify(configMap?.name ?? '')}`, filesOf(configMap)),
    ...warn(`Secret ${JSON.stringify(secret?.secretName ?? '')}`, filesOf(secret)),
    ...warn('DownwardAPI', filesOf(downwardAPI)),
  ];
  const sources = projected?.sources ?? [];
  for (const source of sources) {
    if (Object.keys(source).length === 0) warnings.push(`${volume} (Projected) has no sources provided`);
  }
  return [...warnings, ...warn('Projected', sources.flatMap(projectedFiles))];
}

type Items = { readonly items?: readonly { readonly path?: string }[] } | undefined;

const filesOf = (from: Items, source = ''): File[] => (from?.items ?? []).map(({ path = '' }) => ({ path, source }));

function projectedFiles(from: Infer<typeof VolumeProjection>): File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = from;
  if (configMap?.items !== undefined) return filesOf(configMap, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items !== undefined) return filesOf(secret, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items !== undefined) return filesOf(downwardAPI, 'DownwardAPI');
  if (token !== undefined) return [{ path: token.path ?? '', source: 'ServiceAccountToken' }];
  if (bundle === undefined) return [];
  const source = `ClusterTrustBundle ${JSON.stringify(bundle.name ?? bundle.signerName ?? '')}`;
  return [{ path: bundle.path ?? '', source }];
}

/** Describes each file that overlaps with an earlier one. */
function overlapsIn(files: readonly File[]): string[] {
  const pairs: { readonly later: number; readonly earlier: number }[] = [];
  // Sorted so that a directory comes directly before the paths below it.
  const sorted = files
    .map(({ path }, i) => ({ prefix: `${trimmed(path)}/`, i }))
    .filter(({ prefix }) => prefix !== '/')
    .sort((a, b) => (a.prefix < b.prefix ? -1 : a.prefix > b.prefix ? 1 : a.i - b.i));
  const around: typeof sorted = [];
  for (const file of sorted) {
    while (around.length > 0 && !file.prefix.startsWith(around.at(-1)?.prefix ?? '')) around.pop();
    for (const { i } of around) {
      if (pairs.length === MAX_WARNINGS) break;
      pairs.push({ later: Math.max(i, file.i), earlier: Math.min(i, file.i) });
    }
    around.push(file);
  }
  pairs.sort((a, b) => a.later - b.later || a.earlier - b.earlier);
  return pairs.map(({ later, earlier }) => `${formatFile(files[later])} with ${formatFile(files[earlier])}`);
}

/** A path without trailing slashes. */
function trimmed(path: string): string {
  let end = path.length;
  while (path.charCodeAt(end - 1) === 0x2f) end--;
  return path.slice(0, end);
}

const formatFile = (file: File | undefined): string =>
  JSON.stringify(trimmed(file?.path ?? '')) + (file?.source ? ` (${file.source})` : '');
