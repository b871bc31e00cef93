import type { Infer } from '../../../schema/index.ts';
import type { Volume, VolumeProjection } from '../../types/core-v1.ts';

/** A file that a volume is to hold, and where it comes from when there are several sources. */
interface File {
  readonly path: string;
  readonly source: string;
}

/** Advice on files of a volume of which one hides another, or lies in it as if it were a directory. */
export function warnOfOverlaps({ name = '', configMap, secret, downwardAPI, projected }: Volume): string[] {
  const volume = `volume ${JSON.stringify(name)}`;
  const warn = (kind: string, files: readonly File[]) =>
    overlapsIn(files).map((clash) => `${volume} (${kind}): overlapping paths: ${clash}`);
  const found = [
    ...warn(`ConfigMap ${JSON.stringify(configMap?.name ?? '')}`, filesOf(configMap)),
    ...warn(`Secret ${JSON.stringify(secret?.secretName ?? '')}`, filesOf(secret)),
    ...warn('DownwardAPI', filesOf(downwardAPI)),
  ];
  const sources = projected?.sources ?? [];
  for (const source of sources) {
    if (Object.keys(source).length === 0) found.push(`${volume} (Projected) has no sources provided`);
  }
  return [...found, ...warn('Projected', sources.flatMap(projectedFiles))];
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

/** Each file against those before it. */
function overlapsIn(files: readonly File[]): string[] {
  const trimmed = files.map(({ path, source }) => ({ path: path.replace(/\/+$/, ''), source }));
  return trimmed.flatMap((file, i) =>
    trimmed
      .slice(0, i)
      .filter((other) => overlap(file.path, other.path))
      .map((other) => `${shown(file)} with ${shown(other)}`),
  );
}

const overlap = (a: string, b: string): boolean =>
  a !== '' && b !== '' && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`));

const shown = ({ path, source }: File): string => JSON.stringify(path) + (source === '' ? '' : ` (${source})`);
