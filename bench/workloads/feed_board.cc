#include "bench/workloads/feed_board.h"

#include <algorithm>
#include <string_view>

#include <absl/container/flat_hash_map.h>

namespace harena::bench {
namespace {

using transit_realtime::FeedEntity;
using transit_realtime::FeedMessage;
using transit_realtime::TripDescriptor;
using transit_realtime::TripUpdate;
using transit_realtime::VehiclePosition;
using StopTimeEvent = TripUpdate::StopTimeEvent;
using StopTimeUpdate = TripUpdate::StopTimeUpdate;

constexpr int64_t kBoardStepSeconds = 30;

/// Boards by the name they are grouped under. The keys point into the feed.
template <typename Board>
using Index = absl::flat_hash_map<std::string_view, Board*>;

int32_t DelayOf(const TripUpdate& trip, const StopTimeEvent& event) {
  return event.has_delay() ? event.delay() : trip.delay();
}

int64_t BoardTime(int64_t time, int32_t delay_s) {
  const int64_t moved = time + delay_s;
  return moved - moved % kBoardStepSeconds;
}

void Widen(int64_t time, v1::StopBoard* board) {
  const bool fresh = !board->has_span();
  v1::TimeSpan* span = board->mutable_span();
  span->set_first(fresh ? time : std::min(span->first(), time));
  span->set_last(fresh ? time : std::max(span->last(), time));
}

void AddCall(const TripUpdate& trip, const StopTimeUpdate& update, v1::StopBoard* board) {
  v1::StopCall* call = board->add_calls();
  call->set_trip_id(trip.trip().trip_id());
  call->set_route_id(trip.trip().route_id());
  call->set_direction_id(trip.trip().direction_id());
  call->set_stop_sequence(update.stop_sequence());
  call->set_skipped(update.schedule_relationship() == StopTimeUpdate::SKIPPED);
  if (update.has_arrival()) {
    const int32_t delay_s = DelayOf(trip, update.arrival());
    const int64_t time = BoardTime(update.arrival().time(), delay_s);
    call->set_arrival(time);
    call->set_delay_s(delay_s);
    Widen(time, board);
  }
  if (update.has_departure()) {
    const int32_t delay_s = DelayOf(trip, update.departure());
    const int64_t time = BoardTime(update.departure().time(), delay_s);
    call->set_departure(time);
    call->set_delay_s(delay_s);
    Widen(time, board);
  }
}

void Widen(float latitude, float longitude, v1::RouteBoard* board) {
  const bool fresh = !board->has_bounds();
  v1::Bounds* bounds = board->mutable_bounds();
  bounds->set_latitude_min(fresh ? latitude : std::min(bounds->latitude_min(), latitude));
  bounds->set_latitude_max(fresh ? latitude : std::max(bounds->latitude_max(), latitude));
  bounds->set_longitude_min(fresh ? longitude : std::min(bounds->longitude_min(), longitude));
  bounds->set_longitude_max(fresh ? longitude : std::max(bounds->longitude_max(), longitude));
}

void AddVehicle(const VehiclePosition& vehicle, uint64_t feed_time, v1::RouteBoard* board) {
  v1::VehicleSpot* spot = board->add_vehicles();
  spot->set_vehicle_id(vehicle.vehicle().id());
  spot->set_label(vehicle.vehicle().label());
  spot->set_trip_id(vehicle.trip().trip_id());
  spot->set_started(vehicle.trip().start_date() + " " + vehicle.trip().start_time());
  spot->set_stop_id(vehicle.stop_id());
  spot->set_direction_id(vehicle.trip().direction_id());
  spot->set_stop_sequence(vehicle.current_stop_sequence());
  spot->set_latitude(vehicle.position().latitude());
  spot->set_longitude(vehicle.position().longitude());
  spot->set_bearing(vehicle.position().bearing());
  spot->set_at_stop(vehicle.current_status() == VehiclePosition::STOPPED_AT);
  spot->set_age_s(static_cast<int64_t>(feed_time) - static_cast<int64_t>(vehicle.timestamp()));
  if (vehicle.has_occupancy_percentage()) {
    spot->set_occupancy_percentage(vehicle.occupancy_percentage());
  }
  for (const VehiclePosition::CarriageDetails& details : vehicle.multi_carriage_details()) {
    v1::Carriage* carriage = spot->add_carriages();
    carriage->set_label(details.label());
    carriage->set_sequence(details.carriage_sequence());
    if (details.has_occupancy_percentage()) {
      carriage->set_occupancy_percentage(details.occupancy_percentage());
    }
  }
  if (vehicle.has_position()) Widen(spot->latitude(), spot->longitude(), board);
}

}  // namespace

void BoardFeed(const FeedMessage& feed, v1::FeedBoard* board) {
  board->set_feed_version(feed.header().gtfs_realtime_version());
  board->set_timestamp(feed.header().timestamp());
  Index<v1::StopBoard> stops;
  Index<v1::RouteBoard> routes;
  for (const FeedEntity& entity : feed.entity()) {
    if (entity.has_trip_update()) {
      for (const StopTimeUpdate& update : entity.trip_update().stop_time_update()) {
        const auto [place, fresh] = stops.try_emplace(update.stop_id(), nullptr);
        if (fresh) {
          place->second = board->add_stops();
          place->second->set_stop_id(update.stop_id());
        }
        AddCall(entity.trip_update(), update, place->second);
      }
    }
    if (entity.has_vehicle()) {
      const TripDescriptor& trip = entity.vehicle().trip();
      const auto [place, fresh] = routes.try_emplace(trip.route_id(), nullptr);
      if (fresh) {
        place->second = board->add_routes();
        place->second->set_route_id(trip.route_id());
      }
      AddVehicle(entity.vehicle(), feed.header().timestamp(), place->second);
    }
  }
}

}  // namespace harena::bench
