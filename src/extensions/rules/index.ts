/** Validation rules of custom types: compiled for definitions, evaluated for objects. */
export { expressionsOf } from './compile.ts';
export { type RuleOptions, type RuleValidator, ruleValidator } from './evaluate.ts';
export { fieldPathOf } from './field-path.ts';
export { validateByRules } from './strategy.ts';
export { validateRules } from './validate-rules.ts';
