//! Many samples at once: classes whose members the measurements do not tell apart (Runtime Fragility,
//! section 4.2: the six best solutions of a query were one such class).
//!
//! Every pair is put to Welch's test, on logarithms as everywhere here. With fifty pairs, two or three would
//! differ at 5 % by luck alone, so the levels are Holm's (1979): pairs in the order of their p, the first
//! tested at α / m, the next at α / (m − 1), and so on until one does not differ. The chance of telling any
//! two equal means apart is then at most α in the whole family.
//!
//! "Not told apart" is not transitive, so a choice has to be made to get classes: the first is the best
//! sample with all that are not told apart from *it*; the next is the best of the others with those not told
//! apart from that one; and so on. Members of the first class are candidates for the best. A member of a later
//! class is told apart from the best sample, though perhaps not from all of its class.

use super::{ALPHA, Sample, welch};

/// Classes of samples, best first: in each the places of its members in `samples`, least mean first. Samples
/// must be positive; less is better. Samples of one value are told apart from nothing.
pub fn classes(samples: &[Sample]) -> Vec<Vec<usize>> {
    let logarithms: Vec<Sample> = samples.iter().map(Sample::logarithms).collect();
    let told_apart = told_apart(&logarithms);
    let mut left: Vec<usize> = (0..samples.len()).collect();
    left.sort_by(|&a, &b| logarithms[a].mean().total_cmp(&logarithms[b].mean()));
    let mut classes = Vec::new();
    while let Some(&best) = left.first() {
        let (class, others) = left.iter().partition(|&&sample| !told_apart[best][sample]);
        classes.push(class);
        left = others;
    }
    classes
}

/// For each pair whether its means differ, by Holm's procedure.
fn told_apart(samples: &[Sample]) -> Vec<Vec<bool>> {
    let mut pairs = Vec::new();
    for a in 0..samples.len() {
        for b in 0..a {
            pairs.push((welch(&samples[a], &samples[b]).p, a, b));
        }
    }
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut apart = vec![vec![false; samples.len()]; samples.len()];
    for (i, &(p, a, b)) in pairs.iter().enumerate() {
        if p >= ALPHA / (pairs.len() - i) as f64 {
            break;
        }
        apart[a][b] = true;
        apart[b][a] = true;
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five values around a mean, with a standard deviation of `deviation`.
    fn around(mean: f64, deviation: f64) -> Sample {
        Sample::new([-1.0, -1.0, 0.0, 1.0, 1.0].map(|d| mean + deviation * d).to_vec())
    }

    #[test]
    fn clear_groups_are_classes_in_the_order_of_their_means() {
        let samples = [
            around(30.0, 0.1),
            around(10.0, 0.1),
            around(20.0, 0.1),
            around(10.01, 0.1),
            around(20.02, 0.1),
        ];
        assert_eq!(classes(&samples), [vec![1, 3], vec![2, 4], vec![0]]);
    }

    #[test]
    fn a_wide_sample_is_in_the_class_of_whatever_it_may_be() {
        // The paper's example, section 3.1: one layout varies, the other hardly.
        let samples = [
            Sample::new(vec![1.4, 1.75, 1.75, 1.85, 2.0]),
            Sample::new(vec![1.80, 1.81, 1.82, 1.83, 1.84]),
            Sample::new(vec![3.60, 3.61, 3.62, 3.63, 3.64]),
        ];
        assert_eq!(classes(&samples), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn being_alike_is_not_passed_on() {
        // Each is like its neighbours; the third is not like the first and opens a class.
        let samples = [around(10.0, 0.1), around(10.12, 0.1), around(10.24, 0.1)];
        assert!(
            !welch(&samples[0], &samples[1]).is_significant()
                && !welch(&samples[1], &samples[2]).is_significant()
        );
        assert_eq!(classes(&samples), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn many_samples_need_more_to_be_told_apart() {
        // Two samples whose means differ at 2 % are told apart alone, and not among the pairs of eight.
        let (a, b) = (around(10.0, 0.1), around(10.18, 0.1));
        let p = welch(&a.logarithms(), &b.logarithms()).p;
        assert!((0.001..0.05).contains(&p), "{p}");
        assert_eq!(classes(&[a.clone(), b.clone()]), [vec![0], vec![1]]);
        let mut many = vec![a, b];
        many.extend((0..6).map(|i| around(10.0 + 0.02 * f64::from(i), 0.1)));
        assert_eq!(classes(&many).len(), 1);
    }

    #[test]
    fn few_and_single_values_are_no_trap() {
        assert!(classes(&[]).is_empty());
        assert_eq!(classes(&[around(1.0, 0.1)]), [vec![0]]);
        let single = |value| Sample::new(vec![value]);
        assert_eq!(classes(&[single(5.0), single(1.0)]), [vec![1, 0]]);
        let constant = |value| Sample::new(vec![value; 3]);
        assert_eq!(
            classes(&[constant(2.0), constant(1.0), constant(1.0)]),
            [vec![1, 2], vec![0]]
        );
    }
}
