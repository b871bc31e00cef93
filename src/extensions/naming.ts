import { aggregateMessages } from '../meta/index.ts';
import type { CustomResourceDefinitionSpec } from '../types/apiextensions-v1.ts';
import type { Condition } from './conditions.ts';

type OwnNames = NonNullable<CustomResourceDefinitionSpec['names']>;

export type DefinitionNames = Required<{
  readonly [field in 'plural' | 'singular' | 'kind' | 'listKind']: string;
}> & { readonly shortNames: readonly string[]; readonly categories: readonly string[] };

/** The names of a definition, all fields present. */
export const namesOf = (names: OwnNames | undefined): DefinitionNames => ({
  plural: names?.plural ?? '',
  singular: names?.singular ?? '',
  kind: names?.kind ?? '',
  listKind: names?.listKind ?? '',
  shortNames: names?.shortNames ?? [],
  categories: names?.categories ?? [],
});

/** The names in the form of the status, without empty ones. */
export const acceptedForm = (names: DefinitionNames): OwnNames => ({
  plural: names.plural,
  ...(names.singular === '' ? {} : { singular: names.singular }),
  ...(names.shortNames.length === 0 ? {} : { shortNames: [...names.shortNames] }),
  kind: names.kind,
  ...(names.listKind === '' ? {} : { listKind: names.listKind }),
  ...(names.categories.length === 0 ? {} : { categories: [...names.categories] }),
});

/** Names that identify resources to clients; names of kinds are a separate set. */
export type NameUse = 'resource' | 'kind';

/** The names that a definition claims, with their use. Empty ones are not claimed. */
export function claimsOf({ plural, singular, shortNames, kind, listKind }: DefinitionNames): [NameUse, string][] {
  const resources = [plural, singular, ...shortNames].map((name): [NameUse, string] => ['resource', name]);
  const kinds = [kind, listKind].map((name): [NameUse, string] => ['kind', name]);
  return [...resources, ...kinds].filter(([, name]) => name !== '');
}

export interface Naming {
  readonly accepted: DefinitionNames;
  /** The condition NamesAccepted. */
  readonly condition: Condition;
}

const noConflicts: Condition = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
};

/**
 * Accepts each requested name that has been accepted before or that no definition of the group uses; the last conflict is
 * the reason of the condition.
 */
export function acceptNames(
  requested: DefinitionNames,
  before: DefinitionNames,
  isUsed: (use: NameUse, name: string) => boolean,
): Naming {
  let condition = noConflicts;
  const conflict = (reason: string, message: string) => {
    condition = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const inUse = (name: string) => `${JSON.stringify(name)} is already in use`;
  const accept = (field: 'plural' | 'singular' | 'kind' | 'listKind', use: NameUse): string => {
    const name = requested[field];
    if (name === before[field] || !isUsed(use, name)) return name;
    conflict(`${field[0]?.toUpperCase()}${field.slice(1)}Conflict`, inUse(name));
    return before[field];
  };
  const acceptShortNames = (): readonly string[] => {
    const usedNames = requested.shortNames.filter(
      (name) => !before.shortNames.includes(name) && isUsed('resource', name),
    );
    if (usedNames.length === 0) return requested.shortNames;
    conflict('ShortNamesConflict', aggregateMessages(usedNames.map(inUse)));
    return before.shortNames;
  };
  const accepted = {
    plural: accept('plural', 'resource'),
    singular: accept('singular', 'resource'),
    shortNames: acceptShortNames(),
    kind: accept('kind', 'kind'),
    listKind: accept('listKind', 'kind'),
    categories: requested.categories,
  };
  return { accepted, condition };
}
