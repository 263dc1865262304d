//! Temporary.
use crate::plan::OpeningPlan;
use referee::opening::Opening;
/// Loads.
pub fn load(plan: &OpeningPlan) -> Result<Vec<Opening>, String> {
    let mut all = vec![];
    for f in &plan.files { let b = std::fs::read(f).map_err(|e| e.to_string())?; for r in notation::record::read(&b, None).map_err(|e| e.to_string())? { all.push(Opening { start: r.start.clone(), moves: r.plies.iter().map(|p| p.mv).collect() }.cut(plan.plies)); } }
    Ok(all)
}
