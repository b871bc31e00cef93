import type { Json, ObjectMeta } from '../../meta/index.ts';
import { AgeCell, type Column } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { Container } from '../../types/core-v1.ts';
import type { LabelSelector } from '../../types/meta-v1.ts';

// Table columns and cell formats that many kinds share.

/** The fields that these columns read. */
interface Named {
  metadata: ObjectMeta;
}

export const name: Column<Named> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among its kind and namespace.',
  cell: ({ metadata }) => metadata.name ?? '',
};

export const age: Column<Named> = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  cell: ({ metadata }) => new AgeCell(metadata.creationTimestamp),
};

type Containers = Infer<typeof Container>[] | undefined;

export const containerNames = (containers: Containers): string => (containers ?? []).map((c) => c.name ?? '').join(',');

export const imageNames = (containers: Containers): string => (containers ?? []).map((c) => c.image ?? '').join(',');

/** `a=b,c=d`, or `<none>`. */
export function formatLabels(labels: { [key: string]: string } | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}

/** A label selector in the form that queries use; `<none>` when it selects everything or there is none. */
export function formatSelector(selector: Infer<typeof LabelSelector> | undefined): string {
  const parts = Object.entries(selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort();
  for (const { key = '', operator, values = [] } of selector?.matchExpressions ?? []) {
    if (operator === 'In') parts.push(`${key} in (${[...values].sort().join(',')})`);
    else if (operator === 'NotIn') parts.push(`${key} notin (${[...values].sort().join(',')})`);
    else if (operator === 'Exists') parts.push(key);
    else if (operator === 'DoesNotExist') parts.push(`!${key}`);
  }
  return parts.length === 0 ? '<none>' : parts.join(',');
}

const modes: { readonly [mode: string]: string } = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,ROX`: each mode once, in a fixed order. */
export const formatAccessModes = (accessModes: readonly string[] | undefined): string =>
  Object.entries(modes)
    .filter(([mode]) => accessModes?.includes(mode))
    .map(([, short]) => short)
    .join(',');

/** Up to `most` names, then how many more there are; `<none>` when there are none. */
export function formatSome(names: readonly string[], most: number): string {
  if (names.length === 0) return '<none>';
  const text = names.slice(0, most).join(',');
  return names.length > most ? `${text} + ${names.length - most} more...` : text;
}

export const orNone = (text: string | undefined): Json => (text === undefined || text === '' ? '<none>' : text);
export const orUnknown = (text: string | undefined): Json => (text === undefined || text === '' ? '<unknown>' : text);
export const orUnset = (text: string | undefined): Json => (text === undefined || text === '' ? '<unset>' : text);
