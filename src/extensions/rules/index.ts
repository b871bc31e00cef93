/** Validation rules of custom types: compiled for definitions, evaluated for objects. */
export { type RuleOptions, type RuleValidator, rulesNotChecked, ruleValidator } from './evaluate.ts';
export { type RuleValidation, validateRules } from './validate-rules.ts';
