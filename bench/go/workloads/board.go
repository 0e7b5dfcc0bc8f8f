package workloads

import (
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/go/arena"
)

const boardStepSeconds = 30

// BoardFeed derives a board from a feed. Trip updates become calls grouped by stop, every arrival and
// departure moved by its own delay (else by its trip's) and rounded down to the half minute that
// station boards show. Vehicle positions become spots grouped by route. Stops and routes appear in the
// order in which the feed first names them.
//
// The board and what it takes to build it lie in the arena, or on the heap when that is nil.
func BoardFeed(a *arena.Arena, feed *gtfspb.FeedMessage) *benchpb.FeedBoard {
	board := newOf[benchpb.FeedBoard](a)
	board.FeedVersion = feed.GetHeader().GetGtfsRealtimeVersion()
	board.Timestamp = feed.GetHeader().GetTimestamp()
	stops := makeMap[string, *benchpb.StopBoard](a, 0)
	routes := makeMap[string, *benchpb.RouteBoard](a, 0)
	for _, entity := range feed.GetEntity() {
		for _, update := range entity.GetTripUpdate().GetStopTimeUpdate() {
			stop, known := stops[update.GetStopId()]
			if !known {
				stop = newOf[benchpb.StopBoard](a)
				stop.StopId = update.GetStopId()
				stops[stop.StopId] = stop
				board.Stops = appendTo(a, board.Stops, stop)
			}
			addCall(a, entity.TripUpdate, update, stop)
		}
		if vehicle := entity.GetVehicle(); vehicle != nil {
			route, known := routes[vehicle.GetTrip().GetRouteId()]
			if !known {
				route = newOf[benchpb.RouteBoard](a)
				route.RouteId = vehicle.GetTrip().GetRouteId()
				routes[route.RouteId] = route
				board.Routes = appendTo(a, board.Routes, route)
			}
			addVehicle(a, vehicle, board.Timestamp, route)
		}
	}
	return board
}

func addCall(a *arena.Arena, trip *gtfspb.TripUpdate, update *gtfspb.TripUpdate_StopTimeUpdate, stop *benchpb.StopBoard) {
	call := newOf[benchpb.StopCall](a)
	stop.Calls = appendTo(a, stop.Calls, call)
	call.TripId = trip.GetTrip().GetTripId()
	call.RouteId = trip.GetTrip().GetRouteId()
	call.DirectionId = trip.GetTrip().GetDirectionId()
	call.StopSequence = update.GetStopSequence()
	call.Skipped = update.GetScheduleRelationship() == gtfspb.TripUpdate_StopTimeUpdate_SKIPPED
	if update.Arrival != nil {
		call.DelayS = delayOf(trip, update.Arrival)
		call.Arrival = some(a, boardTime(update.Arrival.GetTime(), call.DelayS))
		widenSpan(a, *call.Arrival, stop)
	}
	if update.Departure != nil {
		call.DelayS = delayOf(trip, update.Departure)
		call.Departure = some(a, boardTime(update.Departure.GetTime(), call.DelayS))
		widenSpan(a, *call.Departure, stop)
	}
}

func delayOf(trip *gtfspb.TripUpdate, event *gtfspb.TripUpdate_StopTimeEvent) int32 {
	if event.Delay != nil {
		return *event.Delay
	}
	return trip.GetDelay()
}

func boardTime(time int64, delayS int32) int64 {
	moved := time + int64(delayS)
	return moved - moved%boardStepSeconds
}

func widenSpan(a *arena.Arena, time int64, stop *benchpb.StopBoard) {
	if stop.Span == nil {
		stop.Span = newOf[benchpb.TimeSpan](a)
		stop.Span.First, stop.Span.Last = time, time
	}
	stop.Span.First = min(stop.Span.First, time)
	stop.Span.Last = max(stop.Span.Last, time)
}

func addVehicle(a *arena.Arena, vehicle *gtfspb.VehiclePosition, feedTime uint64, route *benchpb.RouteBoard) {
	spot := newOf[benchpb.VehicleSpot](a)
	route.Vehicles = appendTo(a, route.Vehicles, spot)
	trip, position := vehicle.GetTrip(), vehicle.GetPosition()
	spot.VehicleId = vehicle.GetVehicle().GetId()
	spot.Label = vehicle.GetVehicle().GetLabel()
	spot.TripId = trip.GetTripId()
	spot.Started = joined(a, trip.GetStartDate(), trip.GetStartTime())
	spot.StopId = vehicle.GetStopId()
	spot.DirectionId = trip.GetDirectionId()
	spot.StopSequence = vehicle.GetCurrentStopSequence()
	spot.Latitude = position.GetLatitude()
	spot.Longitude = position.GetLongitude()
	spot.Bearing = position.GetBearing()
	spot.AtStop = vehicle.GetCurrentStatus() == gtfspb.VehiclePosition_STOPPED_AT
	spot.AgeS = int64(feedTime) - int64(vehicle.GetTimestamp())
	if vehicle.OccupancyPercentage != nil {
		spot.OccupancyPercentage = some(a, *vehicle.OccupancyPercentage)
	}
	for _, details := range vehicle.GetMultiCarriageDetails() {
		carriage := newOf[benchpb.Carriage](a)
		spot.Carriages = appendTo(a, spot.Carriages, carriage)
		carriage.Label = details.GetLabel()
		carriage.Sequence = details.GetCarriageSequence()
		if details.OccupancyPercentage != nil {
			carriage.OccupancyPercentage = some(a, *details.OccupancyPercentage)
		}
	}
	if position != nil {
		widenBounds(a, spot.Latitude, spot.Longitude, route)
	}
}

func widenBounds(a *arena.Arena, latitude, longitude float32, route *benchpb.RouteBoard) {
	bounds := route.Bounds
	if bounds == nil {
		bounds = newOf[benchpb.Bounds](a)
		bounds.LatitudeMin, bounds.LatitudeMax = latitude, latitude
		bounds.LongitudeMin, bounds.LongitudeMax = longitude, longitude
		route.Bounds = bounds
	}
	bounds.LatitudeMin = min(bounds.LatitudeMin, latitude)
	bounds.LatitudeMax = max(bounds.LatitudeMax, latitude)
	bounds.LongitudeMin = min(bounds.LongitudeMin, longitude)
	bounds.LongitudeMax = max(bounds.LongitudeMax, longitude)
}
