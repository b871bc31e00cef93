/** Custom resource definitions: their validation and status, and the resources that they define. */
export { approvalKey, isProtectedGroup, missingApproval } from './approval.ts';
export { beginCleanUp, migrateStorage } from './clean-up.ts';
export { CustomResources, type Define } from './controller.ts';
export { type Rule, type Structural, structuralOf } from './structural.ts';
