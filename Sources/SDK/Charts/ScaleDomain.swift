// SPDX-License-Identifier: Apache-2.0

import ChartRules

/// Source: `Charts.ScaleDomain`.
public protocol ScaleDomain {}

/// A domain by the rules of charts.
protocol ChartScaleDomain: ScaleDomain {
  var chartDomain: ChartDomain { get }
}

extension ClosedRange: ScaleDomain, ChartScaleDomain where Bound: Plottable {
  var chartDomain: ChartDomain {
    var domain = ChartDomain()
    domain.values = [lowerBound.chartValue, upperBound.chartValue]
    return domain
  }
}

extension Array: ScaleDomain, ChartScaleDomain where Element: Plottable {
  var chartDomain: ChartDomain {
    var domain = ChartDomain()
    domain.values = map(\.chartValue)
    return domain
  }
}

/// Source: `Charts.AutomaticScaleDomain`.
public struct AutomaticScaleDomain: ChartScaleDomain {
  let chartDomain: ChartDomain
}

extension ScaleDomain where Self == AutomaticScaleDomain {
  public static var automatic: AutomaticScaleDomain { AutomaticScaleDomain(chartDomain: ChartDomain()) }
  public static func automatic(includesZero: Bool? = nil, reversed: Bool? = nil) -> AutomaticScaleDomain {
    var domain = ChartDomain()
    domain.includesZero = includesZero ?? true
    domain.isReversed = reversed ?? false
    return AutomaticScaleDomain(chartDomain: domain)
  }
}
