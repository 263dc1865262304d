//! The engines of a plan that are built from a repository.

use crate::{Built, Cache, LabError, Surroundings};
use plan::{EnginePlan, Plan};

/// Engines of a plan that could not be built: the name of each, the place in the configuration, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(|(name, origin, fault)| format!("{origin}: engine `{name}`: {fault}")).collect::<Vec<_>>().join("\n"))]
pub struct NotBuilt(pub Vec<(String, String, LabError)>);

/// Builds every engine of a plan that has a source and no program yet, and gives it its program, its directory, and its
/// commit. The builds stay in the cache as long as the result lives.
///
/// # Errors
/// All engines that cannot be built.
pub fn build_engines(
    plan: &mut Plan,
    cache: &Cache,
    around: &Surroundings<'_>,
) -> Result<Vec<Built>, NotBuilt> {
    let (mut builds, mut faults) = (vec![], vec![]);
    for engine in &mut plan.engines {
        match build_engine(engine, cache, around) {
            Ok(built) => builds.extend(built),
            Err(LabError::Interrupted) => {
                let origin = engine.source.as_ref().map(|source| source.origin.clone()).unwrap_or_default();
                return Err(NotBuilt(vec![(engine.name.clone(), origin, LabError::Interrupted)]));
            }
            Err(fault) => {
                let origin = engine.source.as_ref().map(|source| source.origin.clone()).unwrap_or_default();
                faults.push((engine.name.clone(), origin, fault));
            }
        }
    }
    if faults.is_empty() { Ok(builds) } else { Err(NotBuilt(faults)) }
}

/// Builds an engine that has a source and no program yet.
///
/// # Errors
/// When it cannot be built.
pub fn build_engine(
    engine: &mut EnginePlan,
    cache: &Cache,
    around: &Surroundings<'_>,
) -> Result<Option<Built>, LabError> {
    let Some(source) = engine.source.as_mut().filter(|_| engine.command.as_os_str().is_empty()) else {
        return Ok(None);
    };
    let built = cache.build(source, around)?;
    source.commit.clone_from(&built.commit.id);
    source.subject.clone_from(&built.commit.subject);
    engine.command.clone_from(&built.program);
    if engine.directory.is_none() {
        engine.directory = built.program.parent().map(std::path::Path::to_path_buf);
    }
    Ok(Some(built))
}
