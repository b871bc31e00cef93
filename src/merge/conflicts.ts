import { boundedCauses, type StatusCause, StatusError, type WaitingSteps } from '../meta/index.ts';
import { countPaths, difference, type FieldSet, isEmpty, leaf, pathsOf } from './field-set.ts';
import { intersectionInSteps } from './field-set-steps.ts';
import { entryKey, type ManagedEntry } from './managed-fields.ts';
import { pathText } from './path.ts';
import type { Comparisons } from './transition.ts';

/** The fields of one managed fields entry that an apply would change. */
export interface Conflict {
  readonly entry: ManagedEntry;
  readonly fields: FieldSet;
}

/**
 * The conflicts of an apply, ordered by manager: fields of an entry that the applied configuration assigns
 * (`requested`) and that the normalized result changes or removes (`actual`).
 */
export function* conflictsWith(
  entries: readonly ManagedEntry[],
  requested: Comparisons,
  actual: Comparisons,
): WaitingSteps<Conflict[]> {
  const contested = new Map<string, FieldSet>();
  const found: (Conflict & { readonly key: string })[] = [];
  for (const entry of entries) {
    const { apiVersion } = entry;
    let sought = contested.get(apiVersion);
    if (sought === undefined) {
      const { assigned = leaf } = (yield* requested.in(apiVersion)) ?? {};
      const { changed = leaf } = (yield* actual.in(apiVersion)) ?? {};
      sought = yield* intersectionInSteps(assigned, changed);
      contested.set(apiVersion, sought);
    }
    const fields = yield* intersectionInSteps(sought, entry.fields);
    if (!isEmpty(fields)) found.push({ entry, fields, key: entryKey(entry) });
  }
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The conflicts without the allowed fields. */
export function conflictsBeyond(conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] {
  return conflicts
    .map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields));
}

/** The 409 Conflict of an apply, with a cause `FieldManagerConflict` for each field of each conflicting manager. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const count = conflicts.reduce((sum, { fields }) => sum + countPaths(fields), 0);
  const causes = boundedCauses(causesOf(conflicts), count);
  const [first] = causes;
  const message =
    count === 1 && first !== undefined
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${count} conflicts: ${linesOf(causes).join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function* causesOf(conflicts: readonly Conflict[]): Generator<StatusCause> {
  for (const { entry, fields } of conflicts) {
    const message = `conflict with ${describe(entry)}`;
    for (const path of pathsOf(fields)) yield { reason: 'FieldManagerConflict', message, field: pathText(path) };
  }
}

/** The lines of the message: each manager, followed by its fields. */
function linesOf(causes: readonly StatusCause[]): string[] {
  const lines: string[] = [];
  let group: string | undefined;
  for (const { message = '', field } of causes) {
    if (field === undefined) {
      lines.push(message);
      continue;
    }
    if (message !== group) lines.push(`${message.replace('conflict', 'conflicts')}:`);
    group = message;
    lines.push(`- ${field}`);
  }
  return lines;
}

function describe({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  const name = JSON.stringify(manager);
  const at = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${at} using ${apiVersion}` : at;
}
