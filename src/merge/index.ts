/** How a patch changes a document: JSON Patch and JSON Merge Patch. */
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { strategicMergePatch } from './strategic-patch.ts';
export { patchText } from './strategic-text.ts';
