/** The conformance cases that do not pass, with the reason. */
export const differences: { readonly [name: string]: string } = {
  'optionals/optionals/map_null_entry_no_such_key':
    'Looking for an optional field in a value without fields gives none, as in the reference server.',
  'optionals/optionals/map_present_key_invalid_field':
    'Looking for an optional field in a value without fields gives none, as in the reference server.',
  'string_ext/value_errors/indexof_out_of_range':
    'An offset beyond the end of the string finds nothing, as in the reference server.',
  'string_ext/value_errors/lastindexof_out_of_range':
    'An offset beyond the end of the string finds nothing, as in the reference server.',
  'timestamps/duration_converters/get_milliseconds':
    'All milliseconds of the duration are counted, as in the reference server.',
  'type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate':
    'The type of a list of an optional and null is that of null, as in the reference server.',
};
