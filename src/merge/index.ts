/** How a write changes an object, and who owns its fields afterwards: patches, field ownership, server-side apply. */
export { type Apply, applyConfiguration } from './apply.ts';
export { checkMembers, checkPatched } from './bounds.ts';
export { anyStep, type FieldSet, recursiveDifference, setOf, within } from './field-set.ts';
export { applyJsonPatch, operationFindings, readOperations, visitedBy } from './json-patch.ts';
export { sameManagedFields } from './managed-fields.ts';
export { managerName } from './manager-name.ts';
export { applyMergePatch } from './merge-patch.ts';
export { fieldElement, fieldPath } from './path.ts';
export { type ReplicasPath, scaledManagedFields, scaleManagedFields } from './scale.ts';
export { strategicMergePatch } from './strategic-patch.ts';
export { patchText } from './strategic-text.ts';
export type { ManagedType, ManagedVersion, Writer } from './transition.ts';
export { type Update, updateManagedFields } from './update.ts';
