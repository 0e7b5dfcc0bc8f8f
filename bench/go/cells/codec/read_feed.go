package codec

import "github.com/harena-project/harena/bench/go/gen/vt/gtfspb"

// readFeed reads the fields of trip updates and vehicle positions. The payloads have no alerts, shapes
// and so on; that nothing is missed is held by the comparison with reflection.
func readFeed(m *gtfspb.FeedMessage) uint64 {
	sum := uint64(0)
	if h := m.GetHeader(); h != nil {
		sum += ofTextAt(h.GtfsRealtimeVersion) + ofNumberAt(h.Incrementality) + ofNumberAt(h.Timestamp)
	}
	for _, entity := range m.GetEntity() {
		sum += ofTextAt(entity.Id) + ofBoolAt(entity.IsDeleted) + readTripUpdate(entity.GetTripUpdate()) +
			readVehicle(entity.GetVehicle())
	}
	return sum
}

func readTripUpdate(m *gtfspb.TripUpdate) uint64 {
	if m == nil {
		return 0
	}
	sum := readTrip(m.GetTrip()) + readVehicleDescriptor(m.GetVehicle()) + ofNumberAt(m.Timestamp) + ofNumberAt(m.Delay)
	if p := m.GetTripProperties(); p != nil {
		sum += ofTextAt(p.TripId) + ofTextAt(p.StartDate) + ofTextAt(p.StartTime) + ofTextAt(p.ShapeId)
	}
	for _, update := range m.GetStopTimeUpdate() {
		sum += ofNumberAt(update.StopSequence) + ofTextAt(update.StopId) + readEvent(update.GetArrival()) +
			readEvent(update.GetDeparture()) + ofNumberAt(update.DepartureOccupancyStatus) +
			ofNumberAt(update.ScheduleRelationship)
		if p := update.GetStopTimeProperties(); p != nil {
			sum += ofTextAt(p.AssignedStopId)
		}
	}
	return sum
}

func readEvent(m *gtfspb.TripUpdate_StopTimeEvent) uint64 {
	if m == nil {
		return 0
	}
	return ofNumberAt(m.Delay) + ofNumberAt(m.Time) + ofNumberAt(m.Uncertainty)
}

func readTrip(m *gtfspb.TripDescriptor) uint64 {
	if m == nil {
		return 0
	}
	sum := ofTextAt(m.TripId) + ofTextAt(m.RouteId) + ofNumberAt(m.DirectionId) + ofTextAt(m.StartTime) +
		ofTextAt(m.StartDate) + ofNumberAt(m.ScheduleRelationship)
	if t := m.GetModifiedTrip(); t != nil {
		sum += ofTextAt(t.ModificationsId) + ofTextAt(t.AffectedTripId) + ofTextAt(t.StartTime) + ofTextAt(t.StartDate)
	}
	return sum
}

func readVehicleDescriptor(m *gtfspb.VehicleDescriptor) uint64 {
	if m == nil {
		return 0
	}
	return ofTextAt(m.Id) + ofTextAt(m.Label) + ofTextAt(m.LicensePlate) + ofNumberAt(m.WheelchairAccessible)
}

func readVehicle(m *gtfspb.VehiclePosition) uint64 {
	if m == nil {
		return 0
	}
	sum := readTrip(m.GetTrip()) + readVehicleDescriptor(m.GetVehicle()) + ofNumberAt(m.CurrentStopSequence) +
		ofTextAt(m.StopId) + ofNumberAt(m.CurrentStatus) + ofNumberAt(m.Timestamp) + ofNumberAt(m.CongestionLevel) +
		ofNumberAt(m.OccupancyStatus) + ofNumberAt(m.OccupancyPercentage)
	if p := m.GetPosition(); p != nil {
		sum += ofFloatAt(p.Latitude) + ofFloatAt(p.Longitude) + ofFloatAt(p.Bearing) + ofFloatAt(p.Odometer) +
			ofFloatAt(p.Speed)
	}
	for _, c := range m.GetMultiCarriageDetails() {
		sum += ofTextAt(c.Id) + ofTextAt(c.Label) + ofNumberAt(c.OccupancyStatus) + ofNumberAt(c.OccupancyPercentage) +
			ofNumberAt(c.CarriageSequence)
	}
	return sum
}
