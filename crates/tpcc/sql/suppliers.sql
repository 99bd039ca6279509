-- The three tables of TPC-H that the CH-benCHmark adds to TPC-C.
--
-- An item of a warehouse's stock comes from the supplier s_w_id * s_i_id % the number of suppliers. A customer lives in
-- the nation whose key is the code of the first letter of c_state.
create table region (
    r_regionkey integer primary key,
    r_name varchar(25) not null,
    r_comment varchar(152) not null
);

create table nation (
    n_nationkey integer primary key,
    n_name varchar(25) not null,
    n_regionkey integer not null,
    n_comment varchar(152) not null
);

create table supplier (
    su_suppkey integer primary key,
    su_name varchar(25) not null,
    su_address varchar(40) not null,
    su_nationkey integer not null,
    su_phone char(15) not null,
    su_acctbal decimal(12, 2) not null,
    su_comment varchar(101) not null
);
