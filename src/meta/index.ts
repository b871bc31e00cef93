/** The vocabulary of the API: names, kinds, object metadata, selectors, quantities, times and the one error type. */
export { type ByteString, bufferOf, bytesOf, decodeText, encodeText } from './bytes.ts';
export { type FieldError, type FieldErrorReason, fieldError } from './field-error.ts';
export {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  parseGroupVersion,
} from './gvk.ts';
export { getKey, isJsonObject, type Json, type JsonArray, jsonCopy, jsonEqual, type JsonObject, setKey } from './json.ts';
export { expandNames, type Names, namesFor } from './names.ts';
export { type ApiObject, at, type ObjectMeta, type OwnerReference } from './object.ts';
export type { Clock, Random } from './outside.ts';
export { type Status, type StatusCause, type StatusDetails, StatusError, statusError } from './status-error.ts';
