import { resource } from '../define.ts';
import { TokenReview } from '../types/authentication-v1.ts';

export const tokenReviews = resource({
  group: 'authentication.{domain}',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  schema: TokenReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
