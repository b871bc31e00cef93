import { StatusError } from '../meta/index.ts';
import { difference, type FieldSet, intersection, isEmpty, pathsOf, union } from './field-set.ts';
import { type Owner, ownerKey } from './owners.ts';
import { pathText } from './path.ts';
import { type Transition, taken } from './transition.ts';

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
  const found: Conflict[] = [];
  for (const owner of owners) {
    const asked = asks.in(owner.apiVersion);
    const changes = happens.in(owner.apiVersion);
    if (asked === undefined || changes === undefined) continue;
    const really = union(taken(changes), changes.removed);
    const fields = intersection(intersection(taken(asked), owner.fields), really);
    if (!isEmpty(fields)) found.push({ owner, fields });
  }
  return found.sort((a, b) => (ownerKey(a.owner) < ownerKey(b.owner) ? -1 : 1));
}

/** The conflicts over other fields than these. */
export function conflictsBeyond(conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] {
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields));
}

/** The 409 that says who owns what the apply would change, with a cause for each field and owner. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const groups = conflicts.map(({ owner, fields }) => ({
    owner: describe(owner),
    paths: [...pathsOf(fields)].map(pathText),
  }));
  const causes = groups.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [first] = causes;
  const message =
    causes.length === 1 && first !== undefined
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${causes.length} conflicts: ${groups
          .flatMap(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)])
          .join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function describe({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager);
  const at = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${at} using ${apiVersion}` : at;
}
