/** Custom resource definitions: their validation and status, and the resources that they define. */
export { type Rule, type Structural, structuralOf } from './structural.ts';
