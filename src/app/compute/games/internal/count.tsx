/** A whole number of a form. `absent` says what holds where it is left empty; without it, it may not be. */
export function Count({
  name,
  label,
  value,
  most,
  least = 1,
  absent,
}: {
  name: string;
  label: string;
  most: number;
  least?: number;
} & ({ value: number; absent?: never } | { value?: never; absent: string })) {
  return (
    <label className="form-field">
      <span className="caption">{label}</span>
      <input
        type="number"
        name={name}
        className="number"
        defaultValue={value}
        min={least}
        max={most}
        step={1}
        placeholder={absent}
        required={absent === undefined}
      />
    </label>
  );
}
