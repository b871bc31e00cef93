import { isJsonObject, type JsonObject, parseLabelSelector, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';

/** Whether the labels of an object match a label selector; an empty selector matches every object. @throws CommandError */
export function matchesSelector({ metadata = null }: JsonObject, selector: string): boolean {
  if (selector === '') return true;
  const labels = isJsonObject(metadata) && isJsonObject(metadata['labels']) ? metadata['labels'] : {};
  try {
    return parseLabelSelector(selector).matches(labels as { readonly [key: string]: string });
  } catch (error) {
    if (error instanceof StatusError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
