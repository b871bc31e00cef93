/** The guide to the fields of an object: its schema and the owners of its fields. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { JsonObject } from '../../meta/index.ts';
import type { FieldGuide } from '../edit/editor.ts';
import type { Kind } from '../state/discovery.ts';
import { currentSession } from '../state/session.ts';
import { type FieldOwners, fieldOwners, ownersAt } from './field-owners.ts';
import { type FieldPath, pathText } from './paths.ts';
import { descriptionOf, fieldsOf, type KindSchema, readSchema, typeText } from './schema.ts';

/** The schema of a kind; undefined until it is read, and where there is none. */
export function useSchema(kind: Kind): KindSchema | undefined {
  const session = currentSession();
  const [schema, setSchema] = useState<KindSchema>();
  useEffect(() => {
    let current = true;
    // Without a schema, objects are shown without descriptions.
    readSchema(session, kind).then(
      (read) => current && setSchema(read),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [session, kind]);
  return schema;
}

const noOwners: FieldOwners = new Map();

/** The owners of the fields of an object, and the guide for the editor. */
export function useGuide(object: JsonObject | undefined, schema: KindSchema | undefined) {
  const owners = useMemo(() => (object === undefined ? noOwners : fieldOwners(object)), [object]);
  const guide = useMemo(() => guideOf(owners, schema), [owners, schema]);
  return { owners, guide };
}

export function guideOf(owners: FieldOwners, schema: KindSchema | undefined): FieldGuide {
  return {
    ownersOf: (path) => managersAt(owners, path),
    describe: (path) => description(path, schema),
    membersOf: (path) => fieldsOf(schema?.at(path) ?? {}).map(([name, field]) => hintOf(name, field)),
  };
}

/** The names of the managers of a field. */
export const managersAt = (owners: FieldOwners, path: FieldPath): string[] => [
  ...new Set(ownersAt(owners, path).map(({ manager }) => manager)),
];

const hintOf = (name: string, field: JsonObject) => ({
  name,
  type: typeText(field),
  description: descriptionOf(field),
});

function description(path: FieldPath, schema: KindSchema | undefined): string | undefined {
  const field = schema?.at(path);
  if (field === undefined || path.length === 0) return undefined;
  return `${pathText(path)} (${typeText(field)})\n${descriptionOf(field)}`;
}
