package io.fibry.durable;

class FollowInPostgresTest extends FollowContract {
  FollowInPostgresTest() {
    super(InDatabases.postgres());
  }
}
