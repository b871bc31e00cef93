/** The objects in the files of kustomizations. */
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { documentsIn } from '../objects/contents.ts';
import { jsonText } from '../output/json.ts';

/** The objects of a YAML or JSON text; those of lists one by one, after the others. @throws CommandError for one without kind or name */
export function objectsOf(content: string, source: string): JsonObject[] {
  const waiting = documentsIn(content, source, { coreBooleans: true });
  const objects: JsonObject[] = [];
  // Items of lists are appended while they are visited.
  for (const object of waiting) {
    const { kind, items } = object;
    if (typeof kind === 'string' && kind.endsWith('List') && items !== undefined) {
      for (const item of Array.isArray(items) ? items.filter(isJsonObject) : []) waiting.push(item);
    } else if (Object.keys(object).length > 0) objects.push(checked(object, source));
  }
  return objects;
}

function checked(object: JsonObject, source: string): JsonObject {
  const { kind = '', metadata = null } = object;
  if (kind === '') throw new CommandError(`${source}: an object has no kind`);
  const name = isJsonObject(metadata) ? jsonText(metadata['name']) : '';
  if (name === '') throw new CommandError(`${source}: metadata.name of a ${jsonText(kind)} is missing`);
  return object;
}
