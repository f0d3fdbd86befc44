/** A store for durable actors in a database: {@link io.fibry.jdbc.JdbcStore}. */
package io.fibry.jdbc;
