/** Changes to objects: JSON Patch, JSON Merge Patch, strategic merge patch and server-side apply, with managed fields. */
export { type Apply, mergeApply, settleApply } from './apply.ts';
export { checkMembers, checkPatched } from './bounds.ts';
export { anyElement, type FieldFilter, setOf } from './field-set.ts';
export {
  applyJsonPatch,
  applyJsonPatchInSteps,
  maxJsonPatchOperations,
  readOperations,
  unknownMembers,
  visitedBy,
} from './json-patch.ts';
export { reasonOfJsonPatch } from './json-patch-errors.ts';
export { admittedManagedFields, sameManagedFields } from './managed-fields.ts';
export { applyMergePatch, applyMergePatchInSteps } from './merge-patch.ts';
export { mergeValues } from './merge-values.ts';
export { fieldElement, fieldPath } from './path.ts';
export { type ReplicasPath, toParentManagedFields, toScaleManagedFields } from './scale.ts';
export { strategicMergePatch } from './strategic-patch.ts';
export { patchText } from './strategic-text.ts';
export type { ManagedType, ManagedVersion, Writer } from './transition.ts';
export { type Update, updateManagedFields } from './update.ts';
