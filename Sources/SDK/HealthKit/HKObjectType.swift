// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A kind of data. Source: `HealthKit.HKObjectType`.
open class HKObjectType: NSObject {
  public let identifier: String

  init(_ identifier: String) { self.identifier = identifier }

  /// Not `nil` for the identifiers of HealthKit, which is not checked here.
  open class func quantityType(forIdentifier identifier: HKQuantityTypeIdentifier) -> HKQuantityType? {
    HKQuantityType(identifier)
  }
  open class func categoryType(forIdentifier identifier: HKCategoryTypeIdentifier) -> HKCategoryType? {
    HKCategoryType(identifier)
  }
  open class func characteristicType(
    forIdentifier identifier: HKCharacteristicTypeIdentifier
  ) -> HKCharacteristicType? { HKCharacteristicType(identifier) }
  open class func correlationType(forIdentifier identifier: HKCorrelationTypeIdentifier) -> HKCorrelationType? {
    HKCorrelationType(identifier)
  }
  open class func workoutType() -> HKWorkoutType { HKWorkoutType("HKWorkoutTypeIdentifier") }
  open class func activitySummaryType() -> HKActivitySummaryType {
    HKActivitySummaryType("HKActivitySummaryTypeIdentifier")
  }

  open func requiresPerObjectAuthorization() -> Bool { false }

  open override var description: String { identifier }
  open override var hash: Int { identifier.hashValue }
  open override func isEqual(_ object: Any?) -> Bool { (object as? HKObjectType)?.identifier == identifier }
}

/// Source: `HealthKit.HKCharacteristicType`.
public final class HKCharacteristicType: HKObjectType {
  public convenience init(_ identifier: HKCharacteristicTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKActivitySummaryType`.
public final class HKActivitySummaryType: HKObjectType {}

/// Source: `HealthKit.HKSampleType`.
open class HKSampleType: HKObjectType {
  open var isMinimumDurationRestricted: Bool { false }
  open var isMaximumDurationRestricted: Bool { false }
}

/// Source: `HealthKit.HKWorkoutType`.
public final class HKWorkoutType: HKSampleType {}

/// Source: `HealthKit.HKCategoryType`.
public final class HKCategoryType: HKSampleType {
  public convenience init(_ identifier: HKCategoryTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKCorrelationType`.
public final class HKCorrelationType: HKSampleType {
  public convenience init(_ identifier: HKCorrelationTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKQuantityType`.
public final class HKQuantityType: HKSampleType {
  public convenience init(_ identifier: HKQuantityTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKCategoryTypeIdentifier`.
public struct HKCategoryTypeIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ name: String) { rawValue = "HKCategoryTypeIdentifier\(name)" }

  public static let abdominalCramps = HKCategoryTypeIdentifier("AbdominalCramps")
  public static let acne = HKCategoryTypeIdentifier("Acne")
  public static let appetiteChanges = HKCategoryTypeIdentifier("AppetiteChanges")
  public static let appleStandHour = HKCategoryTypeIdentifier("AppleStandHour")
  public static let appleWalkingSteadinessEvent = HKCategoryTypeIdentifier("AppleWalkingSteadinessEvent")
  public static let bladderIncontinence = HKCategoryTypeIdentifier("BladderIncontinence")
  public static let bloating = HKCategoryTypeIdentifier("Bloating")
  public static let breastPain = HKCategoryTypeIdentifier("BreastPain")
  public static let cervicalMucusQuality = HKCategoryTypeIdentifier("CervicalMucusQuality")
  public static let chestTightnessOrPain = HKCategoryTypeIdentifier("ChestTightnessOrPain")
  public static let chills = HKCategoryTypeIdentifier("Chills")
  public static let constipation = HKCategoryTypeIdentifier("Constipation")
  public static let contraceptive = HKCategoryTypeIdentifier("Contraceptive")
  public static let coughing = HKCategoryTypeIdentifier("Coughing")
  public static let diarrhea = HKCategoryTypeIdentifier("Diarrhea")
  public static let dizziness = HKCategoryTypeIdentifier("Dizziness")
  public static let drySkin = HKCategoryTypeIdentifier("DrySkin")
  public static let environmentalAudioExposureEvent = HKCategoryTypeIdentifier("EnvironmentalAudioExposureEvent")
  public static let fainting = HKCategoryTypeIdentifier("Fainting")
  public static let fatigue = HKCategoryTypeIdentifier("Fatigue")
  public static let fever = HKCategoryTypeIdentifier("Fever")
  public static let generalizedBodyAche = HKCategoryTypeIdentifier("GeneralizedBodyAche")
  public static let hairLoss = HKCategoryTypeIdentifier("HairLoss")
  public static let handwashingEvent = HKCategoryTypeIdentifier("HandwashingEvent")
  public static let headache = HKCategoryTypeIdentifier("Headache")
  public static let headphoneAudioExposureEvent = HKCategoryTypeIdentifier("HeadphoneAudioExposureEvent")
  public static let heartburn = HKCategoryTypeIdentifier("Heartburn")
  public static let highHeartRateEvent = HKCategoryTypeIdentifier("HighHeartRateEvent")
  public static let hotFlashes = HKCategoryTypeIdentifier("HotFlashes")
  public static let intermenstrualBleeding = HKCategoryTypeIdentifier("IntermenstrualBleeding")
  public static let irregularHeartRhythmEvent = HKCategoryTypeIdentifier("IrregularHeartRhythmEvent")
  public static let lactation = HKCategoryTypeIdentifier("Lactation")
  public static let lossOfSmell = HKCategoryTypeIdentifier("LossOfSmell")
  public static let lossOfTaste = HKCategoryTypeIdentifier("LossOfTaste")
  public static let lowCardioFitnessEvent = HKCategoryTypeIdentifier("LowCardioFitnessEvent")
  public static let lowHeartRateEvent = HKCategoryTypeIdentifier("LowHeartRateEvent")
  public static let lowerBackPain = HKCategoryTypeIdentifier("LowerBackPain")
  public static let memoryLapse = HKCategoryTypeIdentifier("MemoryLapse")
  public static let menstrualFlow = HKCategoryTypeIdentifier("MenstrualFlow")
  public static let mindfulSession = HKCategoryTypeIdentifier("MindfulSession")
  public static let moodChanges = HKCategoryTypeIdentifier("MoodChanges")
  public static let nausea = HKCategoryTypeIdentifier("Nausea")
  public static let nightSweats = HKCategoryTypeIdentifier("NightSweats")
  public static let ovulationTestResult = HKCategoryTypeIdentifier("OvulationTestResult")
  public static let pelvicPain = HKCategoryTypeIdentifier("PelvicPain")
  public static let pregnancy = HKCategoryTypeIdentifier("Pregnancy")
  public static let pregnancyTestResult = HKCategoryTypeIdentifier("PregnancyTestResult")
  public static let progesteroneTestResult = HKCategoryTypeIdentifier("ProgesteroneTestResult")
  public static let rapidPoundingOrFlutteringHeartbeat = HKCategoryTypeIdentifier("RapidPoundingOrFlutteringHeartbeat")
  public static let runnyNose = HKCategoryTypeIdentifier("RunnyNose")
  public static let sexualActivity = HKCategoryTypeIdentifier("SexualActivity")
  public static let shortnessOfBreath = HKCategoryTypeIdentifier("ShortnessOfBreath")
  public static let sinusCongestion = HKCategoryTypeIdentifier("SinusCongestion")
  public static let skippedHeartbeat = HKCategoryTypeIdentifier("SkippedHeartbeat")
  public static let sleepAnalysis = HKCategoryTypeIdentifier("SleepAnalysis")
  public static let sleepChanges = HKCategoryTypeIdentifier("SleepChanges")
  public static let soreThroat = HKCategoryTypeIdentifier("SoreThroat")
  public static let toothbrushingEvent = HKCategoryTypeIdentifier("ToothbrushingEvent")
  public static let vaginalDryness = HKCategoryTypeIdentifier("VaginalDryness")
  public static let vomiting = HKCategoryTypeIdentifier("Vomiting")
  public static let wheezing = HKCategoryTypeIdentifier("Wheezing")
}

/// Source: `HealthKit.HKCharacteristicTypeIdentifier`.
public struct HKCharacteristicTypeIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ name: String) { rawValue = "HKCharacteristicTypeIdentifier\(name)" }

  public static let activityMoveMode = HKCharacteristicTypeIdentifier("ActivityMoveMode")
  public static let biologicalSex = HKCharacteristicTypeIdentifier("BiologicalSex")
  public static let bloodType = HKCharacteristicTypeIdentifier("BloodType")
  public static let dateOfBirth = HKCharacteristicTypeIdentifier("DateOfBirth")
  public static let fitzpatrickSkinType = HKCharacteristicTypeIdentifier("FitzpatrickSkinType")
  public static let wheelchairUse = HKCharacteristicTypeIdentifier("WheelchairUse")
}

/// Source: `HealthKit.HKCorrelationTypeIdentifier`.
public struct HKCorrelationTypeIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ name: String) { rawValue = "HKCorrelationTypeIdentifier\(name)" }

  public static let bloodPressure = HKCorrelationTypeIdentifier("BloodPressure")
  public static let food = HKCorrelationTypeIdentifier("Food")
}

/// Source: `HealthKit.HKQuantityTypeIdentifier`.
public struct HKQuantityTypeIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ name: String) { rawValue = "HKQuantityTypeIdentifier\(name)" }

  public static let activeEnergyBurned = HKQuantityTypeIdentifier("ActiveEnergyBurned")
  public static let appleExerciseTime = HKQuantityTypeIdentifier("AppleExerciseTime")
  public static let appleMoveTime = HKQuantityTypeIdentifier("AppleMoveTime")
  public static let appleSleepingWristTemperature = HKQuantityTypeIdentifier("AppleSleepingWristTemperature")
  public static let appleStandTime = HKQuantityTypeIdentifier("AppleStandTime")
  public static let appleWalkingSteadiness = HKQuantityTypeIdentifier("AppleWalkingSteadiness")
  public static let atrialFibrillationBurden = HKQuantityTypeIdentifier("AtrialFibrillationBurden")
  public static let basalBodyTemperature = HKQuantityTypeIdentifier("BasalBodyTemperature")
  public static let basalEnergyBurned = HKQuantityTypeIdentifier("BasalEnergyBurned")
  public static let bloodAlcoholContent = HKQuantityTypeIdentifier("BloodAlcoholContent")
  public static let bloodGlucose = HKQuantityTypeIdentifier("BloodGlucose")
  public static let bloodPressureDiastolic = HKQuantityTypeIdentifier("BloodPressureDiastolic")
  public static let bloodPressureSystolic = HKQuantityTypeIdentifier("BloodPressureSystolic")
  public static let bodyFatPercentage = HKQuantityTypeIdentifier("BodyFatPercentage")
  public static let bodyMass = HKQuantityTypeIdentifier("BodyMass")
  public static let bodyMassIndex = HKQuantityTypeIdentifier("BodyMassIndex")
  public static let bodyTemperature = HKQuantityTypeIdentifier("BodyTemperature")
  public static let cyclingCadence = HKQuantityTypeIdentifier("CyclingCadence")
  public static let cyclingFunctionalThresholdPower = HKQuantityTypeIdentifier("CyclingFunctionalThresholdPower")
  public static let cyclingPower = HKQuantityTypeIdentifier("CyclingPower")
  public static let cyclingSpeed = HKQuantityTypeIdentifier("CyclingSpeed")
  public static let dietaryBiotin = HKQuantityTypeIdentifier("DietaryBiotin")
  public static let dietaryCaffeine = HKQuantityTypeIdentifier("DietaryCaffeine")
  public static let dietaryCalcium = HKQuantityTypeIdentifier("DietaryCalcium")
  public static let dietaryCarbohydrates = HKQuantityTypeIdentifier("DietaryCarbohydrates")
  public static let dietaryChloride = HKQuantityTypeIdentifier("DietaryChloride")
  public static let dietaryCholesterol = HKQuantityTypeIdentifier("DietaryCholesterol")
  public static let dietaryChromium = HKQuantityTypeIdentifier("DietaryChromium")
  public static let dietaryCopper = HKQuantityTypeIdentifier("DietaryCopper")
  public static let dietaryEnergyConsumed = HKQuantityTypeIdentifier("DietaryEnergyConsumed")
  public static let dietaryFatMonounsaturated = HKQuantityTypeIdentifier("DietaryFatMonounsaturated")
  public static let dietaryFatPolyunsaturated = HKQuantityTypeIdentifier("DietaryFatPolyunsaturated")
  public static let dietaryFatSaturated = HKQuantityTypeIdentifier("DietaryFatSaturated")
  public static let dietaryFatTotal = HKQuantityTypeIdentifier("DietaryFatTotal")
  public static let dietaryFiber = HKQuantityTypeIdentifier("DietaryFiber")
  public static let dietaryFolate = HKQuantityTypeIdentifier("DietaryFolate")
  public static let dietaryIodine = HKQuantityTypeIdentifier("DietaryIodine")
  public static let dietaryIron = HKQuantityTypeIdentifier("DietaryIron")
  public static let dietaryMagnesium = HKQuantityTypeIdentifier("DietaryMagnesium")
  public static let dietaryManganese = HKQuantityTypeIdentifier("DietaryManganese")
  public static let dietaryMolybdenum = HKQuantityTypeIdentifier("DietaryMolybdenum")
  public static let dietaryNiacin = HKQuantityTypeIdentifier("DietaryNiacin")
  public static let dietaryPantothenicAcid = HKQuantityTypeIdentifier("DietaryPantothenicAcid")
  public static let dietaryPhosphorus = HKQuantityTypeIdentifier("DietaryPhosphorus")
  public static let dietaryPotassium = HKQuantityTypeIdentifier("DietaryPotassium")
  public static let dietaryProtein = HKQuantityTypeIdentifier("DietaryProtein")
  public static let dietaryRiboflavin = HKQuantityTypeIdentifier("DietaryRiboflavin")
  public static let dietarySelenium = HKQuantityTypeIdentifier("DietarySelenium")
  public static let dietarySodium = HKQuantityTypeIdentifier("DietarySodium")
  public static let dietarySugar = HKQuantityTypeIdentifier("DietarySugar")
  public static let dietaryThiamin = HKQuantityTypeIdentifier("DietaryThiamin")
  public static let dietaryVitaminA = HKQuantityTypeIdentifier("DietaryVitaminA")
  public static let dietaryVitaminB12 = HKQuantityTypeIdentifier("DietaryVitaminB12")
  public static let dietaryVitaminB6 = HKQuantityTypeIdentifier("DietaryVitaminB6")
  public static let dietaryVitaminC = HKQuantityTypeIdentifier("DietaryVitaminC")
  public static let dietaryVitaminD = HKQuantityTypeIdentifier("DietaryVitaminD")
  public static let dietaryVitaminE = HKQuantityTypeIdentifier("DietaryVitaminE")
  public static let dietaryVitaminK = HKQuantityTypeIdentifier("DietaryVitaminK")
  public static let dietaryWater = HKQuantityTypeIdentifier("DietaryWater")
  public static let dietaryZinc = HKQuantityTypeIdentifier("DietaryZinc")
  public static let distanceCycling = HKQuantityTypeIdentifier("DistanceCycling")
  public static let distanceDownhillSnowSports = HKQuantityTypeIdentifier("DistanceDownhillSnowSports")
  public static let distanceSwimming = HKQuantityTypeIdentifier("DistanceSwimming")
  public static let distanceWalkingRunning = HKQuantityTypeIdentifier("DistanceWalkingRunning")
  public static let distanceWheelchair = HKQuantityTypeIdentifier("DistanceWheelchair")
  public static let electrodermalActivity = HKQuantityTypeIdentifier("ElectrodermalActivity")
  public static let environmentalAudioExposure = HKQuantityTypeIdentifier("EnvironmentalAudioExposure")
  public static let environmentalSoundReduction = HKQuantityTypeIdentifier("EnvironmentalSoundReduction")
  public static let flightsClimbed = HKQuantityTypeIdentifier("FlightsClimbed")
  public static let forcedExpiratoryVolume1 = HKQuantityTypeIdentifier("ForcedExpiratoryVolume1")
  public static let forcedVitalCapacity = HKQuantityTypeIdentifier("ForcedVitalCapacity")
  public static let headphoneAudioExposure = HKQuantityTypeIdentifier("HeadphoneAudioExposure")
  public static let heartRate = HKQuantityTypeIdentifier("HeartRate")
  public static let heartRateRecoveryOneMinute = HKQuantityTypeIdentifier("HeartRateRecoveryOneMinute")
  public static let heartRateVariabilitySDNN = HKQuantityTypeIdentifier("HeartRateVariabilitySDNN")
  public static let height = HKQuantityTypeIdentifier("Height")
  public static let inhalerUsage = HKQuantityTypeIdentifier("InhalerUsage")
  public static let insulinDelivery = HKQuantityTypeIdentifier("InsulinDelivery")
  public static let leanBodyMass = HKQuantityTypeIdentifier("LeanBodyMass")
  public static let nikeFuel = HKQuantityTypeIdentifier("NikeFuel")
  public static let numberOfAlcoholicBeverages = HKQuantityTypeIdentifier("NumberOfAlcoholicBeverages")
  public static let numberOfTimesFallen = HKQuantityTypeIdentifier("NumberOfTimesFallen")
  public static let oxygenSaturation = HKQuantityTypeIdentifier("OxygenSaturation")
  public static let peakExpiratoryFlowRate = HKQuantityTypeIdentifier("PeakExpiratoryFlowRate")
  public static let peripheralPerfusionIndex = HKQuantityTypeIdentifier("PeripheralPerfusionIndex")
  public static let physicalEffort = HKQuantityTypeIdentifier("PhysicalEffort")
  public static let pushCount = HKQuantityTypeIdentifier("PushCount")
  public static let respiratoryRate = HKQuantityTypeIdentifier("RespiratoryRate")
  public static let restingHeartRate = HKQuantityTypeIdentifier("RestingHeartRate")
  public static let runningGroundContactTime = HKQuantityTypeIdentifier("RunningGroundContactTime")
  public static let runningPower = HKQuantityTypeIdentifier("RunningPower")
  public static let runningSpeed = HKQuantityTypeIdentifier("RunningSpeed")
  public static let runningStrideLength = HKQuantityTypeIdentifier("RunningStrideLength")
  public static let runningVerticalOscillation = HKQuantityTypeIdentifier("RunningVerticalOscillation")
  public static let sixMinuteWalkTestDistance = HKQuantityTypeIdentifier("SixMinuteWalkTestDistance")
  public static let stairAscentSpeed = HKQuantityTypeIdentifier("StairAscentSpeed")
  public static let stairDescentSpeed = HKQuantityTypeIdentifier("StairDescentSpeed")
  public static let stepCount = HKQuantityTypeIdentifier("StepCount")
  public static let swimmingStrokeCount = HKQuantityTypeIdentifier("SwimmingStrokeCount")
  public static let timeInDaylight = HKQuantityTypeIdentifier("TimeInDaylight")
  public static let underwaterDepth = HKQuantityTypeIdentifier("UnderwaterDepth")
  public static let uvExposure = HKQuantityTypeIdentifier("UVExposure")
  public static let vo2Max = HKQuantityTypeIdentifier("VO2Max")
  public static let waistCircumference = HKQuantityTypeIdentifier("WaistCircumference")
  public static let walkingAsymmetryPercentage = HKQuantityTypeIdentifier("WalkingAsymmetryPercentage")
  public static let walkingDoubleSupportPercentage = HKQuantityTypeIdentifier("WalkingDoubleSupportPercentage")
  public static let walkingHeartRateAverage = HKQuantityTypeIdentifier("WalkingHeartRateAverage")
  public static let walkingSpeed = HKQuantityTypeIdentifier("WalkingSpeed")
  public static let walkingStepLength = HKQuantityTypeIdentifier("WalkingStepLength")
  public static let waterTemperature = HKQuantityTypeIdentifier("WaterTemperature")
}
