BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE candidate (
	topic INTEGER NOT NULL, 
	document INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	prior INTEGER, 
	CONSTRAINT pk_candidate PRIMARY KEY (topic, document), 
	CONSTRAINT fk_candidate_topic FOREIGN KEY(topic) REFERENCES topic (id), 
	CONSTRAINT fk_candidate_document FOREIGN KEY(document) REFERENCES document (id)
);
INSERT INTO "candidate" VALUES(1,1,0,NULL);
INSERT INTO "candidate" VALUES(1,2,1,NULL);
INSERT INTO "candidate" VALUES(1,3,2,NULL);
INSERT INTO "candidate" VALUES(1,4,3,NULL);
INSERT INTO "candidate" VALUES(1,5,4,NULL);
INSERT INTO "candidate" VALUES(1,6,5,NULL);
CREATE TABLE document (
	id INTEGER NOT NULL, 
	project INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	title TEXT NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_document PRIMARY KEY (id), 
	CONSTRAINT uq_document_project_key UNIQUE (project, "key"), 
	CONSTRAINT fk_document_project FOREIGN KEY(project) REFERENCES project (id)
);
INSERT INTO "document" VALUES(1,1,'d1','text','d1','words');
INSERT INTO "document" VALUES(2,1,'d2','text','d2','words');
INSERT INTO "document" VALUES(3,1,'d3','text','d3','words');
INSERT INTO "document" VALUES(4,1,'d4','text','d4','words');
INSERT INTO "document" VALUES(5,1,'d5','text','d5','words');
INSERT INTO "document" VALUES(6,1,'d6','text','d6','words');
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	person INTEGER, 
	created FLOAT NOT NULL, 
	expires FLOAT NOT NULL, 
	used FLOAT, 
	CONSTRAINT pk_invitation PRIMARY KEY (id), 
	CONSTRAINT fk_invitation_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE judgment (
	labelling INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	a TEXT NOT NULL, 
	b TEXT, 
	answer TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	time FLOAT NOT NULL, 
	CONSTRAINT pk_judgment PRIMARY KEY (labelling, seq), 
	CONSTRAINT uq_judgment_labelling_key UNIQUE (labelling, "key"), 
	CONSTRAINT fk_judgment_labelling FOREIGN KEY(labelling) REFERENCES labelling (id)
);
INSERT INTO "judgment" VALUES(1,1,'k1','d2','d1','a',2.5,2.0);
INSERT INTO "judgment" VALUES(1,2,'k2','d4','d6','a',2.5,2.0);
INSERT INTO "judgment" VALUES(1,3,'k3','d4','d2','tie',1.5,2.0);
INSERT INTO "judgment" VALUES(1,4,'k4','d4','d2','undo',0.0,2.0);
INSERT INTO "judgment" VALUES(1,5,'k5','d4','d2','a',2.5,2.0);
INSERT INTO "judgment" VALUES(1,6,'k6','d5','d3','a',2.5,2.0);
INSERT INTO "judgment" VALUES(1,7,'k7','d5','d4','b',2.5,2.0);
CREATE TABLE labelling (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project INTEGER NOT NULL, 
	topic INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	tool TEXT NOT NULL, 
	strategy TEXT NOT NULL, 
	k INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	created FLOAT NOT NULL, 
	CONSTRAINT uq_labelling_topic_person UNIQUE (topic, person), 
	CONSTRAINT fk_labelling_project FOREIGN KEY(project) REFERENCES project (id), 
	CONSTRAINT fk_labelling_topic FOREIGN KEY(topic) REFERENCES topic (id), 
	CONSTRAINT fk_labelling_person FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "labelling" VALUES(1,1,1,1,'pairs','adaptive',2,5,1.0);
CREATE TABLE meta (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_meta PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('secret','0000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE person (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password TEXT, 
	active BOOLEAN NOT NULL, 
	created FLOAT NOT NULL, 
	CONSTRAINT pk_person PRIMARY KEY (id), 
	CONSTRAINT uq_person_name UNIQUE (name)
);
INSERT INTO "person" VALUES(1,'ann','assessor',NULL,1,1.0);
CREATE TABLE project (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	k INTEGER NOT NULL, 
	strategy TEXT NOT NULL, 
	tools TEXT NOT NULL, 
	seed INTEGER NOT NULL, 
	created FLOAT NOT NULL, 
	CONSTRAINT pk_project PRIMARY KEY (id), 
	CONSTRAINT uq_project_name UNIQUE (name)
);
INSERT INTO "project" VALUES(1,'old',2,'adaptive','pairs',0,1.0);
CREATE TABLE session (
	token TEXT NOT NULL, 
	person INTEGER NOT NULL, 
	csrf TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	expires FLOAT NOT NULL, 
	CONSTRAINT pk_session PRIMARY KEY (token), 
	CONSTRAINT fk_session_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE topic (
	id INTEGER NOT NULL, 
	project INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	"query" TEXT NOT NULL, 
	description TEXT NOT NULL, 
	CONSTRAINT pk_topic PRIMARY KEY (id), 
	CONSTRAINT uq_topic_project_key UNIQUE (project, "key"), 
	CONSTRAINT fk_topic_project FOREIGN KEY(project) REFERENCES project (id)
);
INSERT INTO "topic" VALUES(1,1,'q1','wings','');
CREATE INDEX ix_session_person ON session (person);
CREATE INDEX ix_candidate_document ON candidate (document);
CREATE INDEX ix_labelling_project ON labelling (project);
CREATE INDEX ix_labelling_person ON labelling (person);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('labelling',1);
COMMIT;
