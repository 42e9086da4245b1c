// FormError says why a form was refused, where no field of it is to blame.
export function FormError({ error }: { error: string | undefined }) {
  if (!error) return null;
  return <p className="form-error" role="alert">{error}</p>;
}
