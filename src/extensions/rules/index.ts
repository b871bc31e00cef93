/** Validation rules of custom types: compiled for definitions, evaluated for objects. */
export { expressionsOf } from './compile.ts';
export { fieldPathOf, type PathSchema } from './field-path.ts';
export { budgetOfDefaults, validateByRules, validateDefaultByRules } from './strategy.ts';
export { validateRules } from './validate-rules.ts';
