// Prepended to every kernel. Workgroups are numbered in one dimension; a large dispatch is folded into two, and may be
// cut into several dispatches, each starting at `base`.
fn group_number(base: u32, workgroup: vec3u, groups: vec3u) -> u32 {
  return base + workgroup.x + workgroup.y * groups.x;
}
