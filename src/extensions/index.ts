/** Custom resource definitions: their validation and status, and the resources that they define. */
export { validateApproval } from './approval.ts';
export { beginCleanUp } from './clean-up.ts';
export { CustomResources, type Define, maxVersions } from './controller.ts';
export { caBundleProblem } from './conversion/ca-bundle.ts';
export { type CustomResourceOptions, customResources } from './objects/custom-resource.ts';
export { validateDefaults } from './objects/defaults.ts';
export { openApiOf } from './objects/open-api.ts';
export { validatePatterns } from './objects/patterns.ts';
export { expressionsOf, fieldPathOf, type PathSchema, validateRules } from './rules/index.ts';
export { type Rule, type Structural, structuralInSteps, structuralOf } from './structural.ts';
