import { boundedCauses, type StatusCause, StatusError } from '../meta/index.ts';
import { countPaths, difference, type FieldSet, intersection, isEmpty, leaf, pathsOf } from './field-set.ts';
import { type Owner, ownerKey } from './owners.ts';
import { pathText } from './path.ts';
import type { Transition } from './transition.ts';

/** What an apply would take from one owner. */
export interface Conflict {
  readonly owner: Owner;
  readonly fields: FieldSet;
}

/**
 * What an apply would change of the owners' fields, by owner, in the order of their names: what it `asks` to change and
 * what really `happens` to be changed by it, or removed.
 */
export function conflictsWith(owners: readonly Owner[], asks: Transition, happens: Transition): Conflict[] {
  const contested = new Map<string, FieldSet>();
  const found: (Conflict & { readonly key: string })[] = [];
  for (const owner of owners) {
    const { apiVersion } = owner;
    let sought = contested.get(apiVersion);
    if (sought === undefined) {
      sought = intersection(asks.in(apiVersion)?.taken ?? leaf, happens.in(apiVersion)?.touched ?? leaf);
      contested.set(apiVersion, sought);
    }
    const fields = intersection(sought, owner.fields);
    if (!isEmpty(fields)) found.push({ owner, fields, key: ownerKey(owner) });
  }
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The conflicts over other fields than these. */
export function conflictsBeyond(conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] {
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields));
}

/** The 409 that says who owns what the apply would change, with a cause for each field and owner. */
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
  for (const { owner, fields } of conflicts) {
    const message = `conflict with ${describe(owner)}`;
    for (const path of pathsOf(fields)) yield { reason: 'FieldManagerConflict', message, field: pathText(path) };
  }
}

/** The fields of each owner below its name. */
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

function describe({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager);
  const at = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${at} using ${apiVersion}` : at;
}
